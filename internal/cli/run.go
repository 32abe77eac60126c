package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/engine"
)

func newRun(system System) *cobra.Command {
	var flags targetFlags
	var color string
	var dryRun bool
	command := &cobra.Command{
		Use:   "run",
		Short: "Reconcile all repositories once and exit",
		Long: `run reconciles every repository of the server file: it reads the files, queries the registries,
opens, refreshes, merges, or closes pull requests, pushes where the config permits it, and exits
when nothing more lands. Use it as a scheduled job. It needs no database: it reads everything from
Git, the registries, and the forges, so the next run completes an interrupted one.

Without a server file, --repo takes the URL of a repository. Credentials come from
PROMOTER_GITHUB_TOKEN, PROMOTER_GITLAB_TOKEN, PROMOTER_GITEA_TOKEN with PROMOTER_GITEA_URL,
PROMOTER_GIT_USERNAME and PROMOTER_GIT_PASSWORD, or PROMOTER_GIT_SSH_KEY and
PROMOTER_GIT_KNOWN_HOSTS.

Exit codes: 0 success; 1 a repository failed (the others are completed); 130 interrupted.`,
		Example: `  promoter run --config promoter-server.yaml --cache /var/cache/promoter
  promoter run --repo acme/gitops --dry-run
  promoter run --repo https://github.com/acme/gitops`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runRun(command, &flags, color, dryRun, system)
		},
	}
	flags.add(command)
	command.Flags().BoolVar(&dryRun, "dry-run", false, flagDryRun)
	command.Flags().StringVar(&color, "color", "auto", flagColor)
	return command
}

func runRun(command *cobra.Command, flags *targetFlags, color string, dryRun bool, system System) error {
	paint, err := newPainter(color, system)
	if err != nil {
		return err
	}
	server, err := flags.open(system)
	if err != nil {
		return err
	}
	progress := newProgress(system)
	options := flags.options(system, progress)
	options.DryRun = dryRun
	results, failed := app.Run(command.Context(), server, options)
	progress.clear()
	if results == nil {
		return failed
	}
	text := reportRenderer{paint: paint, dryRun: dryRun}
	if err := printAs(system.Out, flags.output, runToJSON(results, nil), func() string { return text.results(results) }); err != nil {
		return fmt.Errorf("print what was done: %w", err)
	}
	printFailures(system.Err, results)
	printRunSummary(system.Err, results, dryRun)
	if failed != nil {
		return failed
	}
	return exitOfRun(results)
}

// printRunSummary summarizes a run.
func printRunSummary(w io.Writer, results []app.Result, dryRun bool) {
	actions := map[engine.Action]int{}
	failed := 0
	for i := range results {
		if results[i].Failed() {
			failed++
		}
		for _, effect := range results[i].Report.Effects {
			if effect.Err == nil {
				actions[effect.Action]++
			}
		}
		if offered := results[i].Onboarding; offered != nil {
			actions[engine.Action(offered.State)]++ // the states have the names of actions
		}
	}
	var parts []string
	for _, action := range []engine.Action{engine.ActionPushed, engine.ActionOpened, engine.ActionRefreshed, engine.ActionMerged, engine.ActionClosed} {
		if n := actions[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case dryRun:
		text = "nothing was written"
	case text == "" && (failed == 0 || failed < len(results)):
		text = "nothing to do"
	}
	if failed > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s; %d failed", text, failed), "; ")
	}
	printMessage(w, "%s: %s", count(len(results), "repository", "repositories"), text)
}
