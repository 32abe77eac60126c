package forge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/doctor"
	"promoter/internal/serverfile"
)

// NewDoctor returns the command doctor.
func NewDoctor(system console.System) *cobra.Command {
	var flags flag.Service
	var output, test string
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that the server file names",
		Long: `doctor makes the requests that serve would make, and changes nothing. It checks that secrets exist,
receivers have credentials, the database works, each repository opens, accepts pushes, and has
a valid config, the forge's rules allow pushes to promoter/_state, registries respond, clocks
agree, how many requests the forges still allow, destinations of notifications accept the
credential, and, if the service runs with 'api.token', whether reports about health arrive and
notifications are sent.

With --test-message, it also sends a test message to a destination of notifications.

It prints one line per check: ok, warn, or fail, and how to fix it.

Exit codes: 0 nothing failed (there may be warnings); 1 a check failed.`,
		Example: `  promoter doctor --config promoter-server.yaml
  promoter doctor --test-message releases
  promoter doctor -o json`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := render.CheckOutput(output); err != nil {
				return err
			}
			running := func(ctx context.Context) (api.Status, error) {
				client, err := flags.Open(system)
				if err != nil {
					return api.Status{}, err
				}
				return client.Status(ctx)
			}
			file := serverfile.Options{Config: flags.Config, Env: system.Env, Now: time.Now}
			findings, err := doctor.Check(command.Context(), file, running, test)
			if err != nil {
				return err
			}
			return printFindings(system, findings, output)
		},
	}
	flags.Add(command)
	command.Flags().StringVar(&test, "test-message", "", "send a test message to the `DESTINATION` of notifications")
	command.Flags().StringVarP(&output, "output", "o", "text", flag.OutputUsage)
	return command
}

// doctorSchema is the version of the JSON format, as planSchema is.
const doctorSchema = 1

// doctorJSON is what doctor prints with -o json.
type doctorJSON struct {
	Schema   int              `json:"schema"`
	Healthy  bool             `json:"healthy"` // nothing failed
	Findings []doctor.Finding `json:"findings"`
}

func printFindings(system console.System, findings []doctor.Finding, output string) error {
	result := doctorJSON{Schema: doctorSchema, Findings: render.List(findings)}
	total := map[doctor.Verdict]int{}
	for _, f := range findings {
		total[f.Verdict]++
	}
	result.Healthy = total[doctor.Fail] == 0
	if err := render.PrintAs(system.Out, output, result, func() string { return findingLines(findings) }); err != nil {
		return err
	}
	if output == "text" {
		warnings := render.Count(total[doctor.Warn], "warning", "warnings")
		render.PrintMessage(system.Err, "%d ok, %s, %d failed", total[doctor.OK], warnings, total[doctor.Fail])
	}
	if !result.Healthy {
		return console.ExitError(console.ExitFailed)
	}
	return nil
}

// findingLines has one line for each check.
func findingLines(findings []doctor.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		line := fmt.Sprintf("%-4s  %s: %s", f.Verdict, f.Subject, strings.ReplaceAll(f.Message, "\n", "; "))
		if f.Fix != "" {
			line += " (" + f.Fix + ")"
		}
		b.WriteString(render.Visible(line) + "\n")
	}
	return b.String()
}
