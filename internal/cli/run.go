package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/engine"
	"promoter/internal/onboarding"
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
	printer := &runPrinter{system: system, output: flags.output, progress: progress, text: reportRenderer{paint: paint, dryRun: dryRun, acted: true}}
	options.DryRun, options.Acted, options.Offered = dryRun, printer.acted, printer.offered
	results, failed := app.Run(command.Context(), server, options)
	progress.clear()
	if results == nil {
		return failed
	}
	if err := printer.results(results); err != nil {
		return fmt.Errorf("print what was done: %w", err)
	}
	printFailures(system.Err, results)
	printRunSummary(system.Err, results, dryRun)
	if failed != nil {
		return failed
	}
	return exitOfRun(results)
}

// runPrinter prints what a run does as it happens, and its results at the end. As text,
// both go to standard output, and the results do not repeat what was done. JSON is one
// object with everything, so that meanwhile the actions are messages.
type runPrinter struct {
	system   System
	output   string
	text     reportRenderer
	progress *progress
	mutex    sync.Mutex
	under    string // the repository whose name was printed last
	failed   error  // of standard output
}

// acted prints what was done in a repository.
func (p *runPrinter) acted(repository string, effects []engine.Effect) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.progress.around(func() {
		for _, effect := range effects {
			if p.output == "text" {
				p.print(repository, p.text.action(effect))
				continue
			}
			for _, line := range (reportRenderer{}).actionLines(effect) {
				printMessage(p.system.Err, "%s: %s", repository, line)
			}
		}
	})
}

// offered prints that a config file was offered to a repository.
func (p *runPrinter) offered(repository string, result onboarding.Result) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.progress.around(func() {
		if p.output == "text" {
			p.print(repository, "  "+visible(onboardingText(result))+"\n")
			return
		}
		printMessage(p.system.Err, "%s: %s", repository, onboardingText(result))
	})
}

// print prints text under the name of a repository.
func (p *runPrinter) print(repository, text string) {
	if text != "" && p.under != repository {
		text, p.under = p.text.heading(repository)+text, repository
	}
	p.failed = cmp.Or(p.failed, write(p.system.Out, text))
}

// results prints the results, and returns the first error of standard output.
func (p *runPrinter) results(results []app.Result) error {
	if p.output != "text" {
		return writeJSON(p.system.Out, runToJSON(results, nil))
	}
	for i := range results {
		p.print(results[i].Repository, p.text.result(&results[i]))
	}
	return p.failed
}

// printRunSummary summarizes a run.
func printRunSummary(w io.Writer, results []app.Result, dryRun bool) {
	actions := map[engine.Action]int{}
	failed, unfinished := 0, 0
	for i := range results {
		switch {
		case results[i].Unfinished:
			unfinished++
		case results[i].Failed():
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
	for _, action := range []engine.Action{engine.ActionPushed, engine.ActionOpened, engine.ActionRefreshed, engine.ActionUpdated, engine.ActionMerged, engine.ActionClosed} {
		if n := actions[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case dryRun:
		text = "nothing was written"
	case text == "" && unfinished > 0:
		text = "nothing was written"
	case text == "" && (failed == 0 || failed < len(results)):
		text = "nothing to do"
	}
	if failed > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s; %d failed", text, failed), "; ")
	}
	if unfinished > 0 {
		text += fmt.Sprintf("; %d not finished", unfinished)
	}
	printMessage(w, "%s: %s", count(len(results), "repository", "repositories"), text)
}
