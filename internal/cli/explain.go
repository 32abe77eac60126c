package cli

import (
	"fmt"
	"slices"
	"time"

	"promoter/internal/checkout"
	"promoter/internal/engine"
	"promoter/internal/promotion"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/fault"
)

// explainFlags are the flags of explain: those of a repository, or those of a
// checkout.
type explainFlags struct {
	targetFlags
	dir         string
	application string
	color       string
}

func newExplain(system System) *cobra.Command {
	var flags explainFlags
	command := &cobra.Command{
		Use:     "explain ENVIRONMENT",
		Short:   wordExplainShort,
		Long:    wordExplainLong,
		Example: wordExplainExample,
		Args:    oneEnvironment,
		RunE: func(command *cobra.Command, args []string) error {
			return runExplain(command, &flags, args[0], system)
		},
	}
	flags.add(command)
	command.Flags().StringVar(&flags.dir, "dir", ".", flagDir)
	command.Flags().StringVar(&flags.application, "app", "", flagApp)
	command.Flags().StringVar(&flags.color, "color", "auto", flagColor)
	return command
}

func oneEnvironment(command *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fault.New(fault.Invalid, wordOneEnvironment, command.CommandPath())
}

func runExplain(command *cobra.Command, flags *explainFlags, environment string, system System) error {
	paint, err := newPainter(flags.color, system)
	if err != nil {
		return err
	}
	wanted := func(target promotion.Target) bool {
		return target.Environment == environment && (flags.application == "" || target.Application == flags.application)
	}
	results, err := flags.observe(command, environment, system)
	if err != nil {
		return err
	}
	if err := found(results, environment, flags.application, wanted); err != nil {
		return err
	}
	text := reportRenderer{paint: paint, dryRun: true, details: true, wanted: wanted}
	if err := printAs(system.Out, flags.output, runToJSON(results, wanted), func() string { return text.results(results) }); err != nil {
		return fmt.Errorf("print the explanation: %w", err)
	}
	sayFailures(system.Err, results)
	return exitOfRun(results)
}

// observe looks at the repositories that were named, or else at the checkout.
func (f *explainFlags) observe(command *cobra.Command, environment string, system System) ([]app.Result, error) {
	progress := newProgress(system)
	defer progress.clear()
	if f.named() {
		server, err := f.open(system)
		if err != nil {
			return nil, err
		}
		return app.Observe(command.Context(), server, f.options(system, progress))
	}
	if err := checkOutput(f.output); err != nil {
		return nil, err
	}
	opened, err := checkout.Open(f.dir, nil)
	if err != nil {
		return nil, err
	}
	registries, err := connect.NewLocalRegistries(connect.RegistryOptions{CacheDir: f.cache, Networks: f.networks, Now: time.Now})
	if err != nil {
		return nil, err
	}
	preview, err := opened.Plan(command.Context(), checkout.Options{
		Environments: []string{environment}, ShowOnly: true, Versions: registries.View(), Now: time.Now, Progress: progress.show,
	})
	if closing := registries.Close(); closing != nil {
		say(system.Err, "%v", closing) // the next run asks again; this one is not worse for it
	}
	if err != nil {
		return nil, err
	}
	result := app.Result{Repository: f.dir}
	for i := range preview.Targets {
		result.Report.Decisions = append(result.Report.Decisions, preview.Targets[i].Decision)
	}
	for _, e := range preview.Errors {
		result.Report.Errors = append(result.Report.Errors, engine.PartialError{What: "component " + e.Component, Err: e.Err})
	}
	return []app.Result{result}, nil
}

// found refuses names that no repository has. Of one that failed nothing is
// known.
func found(results []app.Result, environment, application string, wanted func(promotion.Target) bool) error {
	if slices.ContainsFunc(results, unknown) {
		return nil
	}
	var environments, applications []string
	for i := range results {
		for _, decision := range results[i].Report.Decisions {
			if wanted(decision.Target) {
				return nil
			}
			environments = appendNew(environments, decision.Environment)
			if decision.Environment == environment {
				applications = appendNew(applications, decision.Application)
			}
		}
	}
	if len(applications) > 0 {
		return fault.New(fault.Invalid, wordNoApplication, application, environment, shortList(applications))
	}
	return fault.New(fault.Invalid, wordNoEnvironment, environment, shortList(environments))
}

func unknown(result app.Result) bool { return result.Err != nil || result.Report.Unusable != "" }

func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
