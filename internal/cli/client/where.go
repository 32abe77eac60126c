package client

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/view"
)

// NewWhere returns the command where.
func NewWhere(system console.System) *cobra.Command {
	var service flag.Service
	var output string
	command := &cobra.Command{
		Use:   "where VERSION",
		Short: "Show where a version, commit, or source pull request is on its way to production",
		Long: `where asks the running service in which environments a version is, since when, and what it waits
for in the others. VERSION is a tag, a digest, an image with either, the commit that an image was
built from, a pull request of the source as its URL, OWNER/NAME#NUMBER, or #NUMBER, or a commit of
the GitOps repository. Digests and commits can be shortened to 7 digits. An image names its source
commit in the label org.opencontainers.image.revision. Pull requests of the source are those that
the pull requests of promoter list.

Exit codes: 0 found; 1 no version is known by that name, or the service did not answer.`,
		Example: `  promoter where 1.4.2
  promoter where 3f2c1d9 -o json
  promoter where quay.io/acme/web:1.4.2
  promoter where acme/web#88`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := render.CheckOutput(output); err != nil {
				return err
			}
			client, err := service.Open(system)
			if err != nil {
				return err
			}
			found, err := client.Where(command.Context(), args[0])
			if err != nil {
				return err
			}
			if err := render.PrintAs(system.Out, output, found, func() string { return whereText(found) }); err != nil {
				return fmt.Errorf("print the versions: %w", err)
			}
			if len(found.Versions) == 0 {
				render.PrintMessage(system.Err, "no environment has, had, or waits for %s", args[0])
				return console.ExitError(console.ExitFailed)
			}
			if found.More {
				render.PrintMessage(system.Err, "there are more: write more of it")
			}
			return nil
		},
	}
	service.Add(command)
	command.Flags().StringVarP(&output, "output", "o", "text", flag.OutputUsage)
	return command
}

// whereText has a paragraph for each version, with one line for each environment.
func whereText(found view.Where) string {
	var b strings.Builder
	for i, version := range found.Versions {
		if i > 0 {
			b.WriteString("\n")
		}
		what := version.Component + " " + version.Version
		if version.Application != config.DefaultApplication {
			what += " of " + version.Application
		}
		fmt.Fprintf(&b, "%s in %s\n", render.Visible(what), render.Visible(version.Repository))
		if len(version.SourcePullRequests) > 0 {
			fmt.Fprintf(&b, "  brings %s\n", render.Visible(strings.Join(version.SourcePullRequests, ", ")))
		}
		width := 0
		for _, place := range version.Places {
			width = max(width, len(place.Environment))
		}
		for _, place := range version.Places {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, render.Visible(place.Environment), render.Visible(placeText(place)))
		}
	}
	return b.String()
}

// placeText is "there since 2026-11-20 09:00Z, pull request #27, Healthy".
func placeText(place view.Place) string {
	text := string(place.State)
	if !place.Since.IsZero() {
		text += " since " + minute(place.Since)
	}
	if !place.Until.IsZero() {
		text += " until " + minute(place.Until)
	}
	if pr := place.PullRequest; pr != nil {
		text += fmt.Sprintf(", pull request #%d", pr.Number)
	}
	if place.Health != "" {
		text += ", " + place.Health
	}
	if place.Reason != nil {
		text += ": " + place.Reason.Message
		if !place.Reason.Until.IsZero() {
			text += ", until " + minute(place.Reason.Until)
		}
	}
	if place.Has != "" {
		text += " (it has " + place.Has + ")"
	}
	return text
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }
