// Package local has the commands that work in a checkout on this machine: init, validate,
// plan, and apply.
package local

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/updater"
)

// NewPlan returns the command plan.
func NewPlan(system console.System) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:   "plan",
		Short: "Show what would change in a checkout, and why",
		Long: `plan finds the references in a folder, queries the registries, and shows what would change
in each environment, and why. It writes nothing and needs no forge and no database;
conditions and gates that need one are listed as not evaluated. Conditions that are not evaluated
keep a target waiting unless --env names its environment; so do the holds, freezes, and rejections
on origin/promoter/_state, if the clone has that branch.

With --with, plan uses the given versions and queries no registry. The folder then needs no
.promoter.yaml and is one environment.

With --config-from, the config file of a pull request decides nothing: its files are planned with
the config of another commit. -o markdown prints a comment for a pull request.

With --summary, plan prints no diffs: a line with counts for each environment, and the targets
that are proposed, refused, or failed.

Exit codes: 0 success; 1 a config error, a refused file, or a registry that did not respond
(the rest is still printed); 2 there are changes, only with --exit-code.`,
		Example: `  promoter plan
  promoter plan --summary
  promoter plan --env staging -o diff
  promoter plan --with quay.io/acme/web:1.5.0 --dir deploy`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runPlan(command, &flags, system)
		},
	}
	flags.add(command)
	return command
}

func runPlan(command *cobra.Command, flags *planFlags, system console.System) error {
	renderer, err := flags.render(system)
	if err != nil {
		return err
	}
	_, preview, err := flags.preview(command, system)
	if err != nil {
		return err
	}
	if err := renderer(system.Out, preview); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	render.PrintPreviewErrors(system.Err, preview, flags.output)
	render.PrintCheckoutWarnings(system.Err, preview)
	render.PrintPlanSummary(system.Err, preview)
	return exitOf(preview, flags.exitCode)
}

// exitOf returns the exit code: an error takes precedence over changes.
func exitOf(preview *checkout.Preview, exitCode bool) error {
	switch {
	case preview.Failed():
		return console.ExitError(console.ExitFailed)
	case exitCode && preview.Changed():
		return console.ExitError(console.ExitChanges)
	default:
		return nil
	}
}

// planFlags are the flags that plan and apply share.
type planFlags struct {
	dir          string
	configFrom   string
	environments []string
	with         []string
	paths        []string
	output       string
	color        string
	cache        string
	networks     []string
	maxFileSize  int64
	exitCode     bool
	summary      bool
}

func (f *planFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.dir, "dir", ".", flag.DirUsage)
	flags.StringVar(&f.configFrom, "config-from", "",
		"read .promoter.yaml, and the files that it names, from a `REVISION` of the clone, such as origin/main (default: the folder)")
	flags.StringArrayVar(&f.environments, "env", nil, "only the environment with this `NAME` (repeatable; default: all)")
	flags.StringArrayVar(&f.with, "with", nil,
		"use this `VERSION`, REPOSITORY[:TAG][@DIGEST], or read lines of them from standard input, - (repeatable)")
	flags.StringArrayVar(&f.paths, "path", nil, "only files that match this `GLOB` (repeatable)")
	flags.StringVarP(&f.output, "output", "o", "text", "output `FORMAT`: text, json, diff, or markdown")
	flags.StringVar(&f.color, "color", "auto", flag.ColorUsage)
	flags.StringVar(&f.cache, "cache", "", "`FOLDER` that caches immutable facts about images")
	flags.StringArrayVar(&f.networks, "network", nil, flag.NetworkUsage)
	flags.Int64Var(&f.maxFileSize, "max-file-size", updater.DefaultMaxFileSize, "maximum size in `BYTES` of a file that is parsed")
	flags.BoolVar(&f.summary, "summary", false, "print counts, and what is proposed, refused, failed, or waiting, without diffs")
	flags.BoolVar(&f.exitCode, "exit-code", false, "exit with 2 if there are changes")
}

// preview opens the checkout and plans.
func (f *planFlags) preview(command *cobra.Command, system console.System) (*checkout.Checkout, *checkout.Preview, error) {
	explicitVersions, err := f.readVersions(command.Context(), system.In)
	if err != nil {
		return nil, nil, err
	}
	var opened *checkout.Checkout
	if f.configFrom != "" {
		opened, err = checkout.OpenRevision(f.dir, f.configFrom, explicitVersions)
	} else {
		opened, err = checkout.Open(f.dir, explicitVersions)
	}
	if err != nil {
		return nil, nil, err
	}
	registries, err := connect.NewLocalRegistries(connect.RegistryOptions{
		CacheDir: f.cache, Networks: f.networks, Env: system.Env, Now: time.Now,
	})
	if err != nil {
		return nil, nil, err
	}
	progress := console.NewProgress(system)
	preview, err := opened.Plan(command.Context(), checkout.Options{
		Environments: f.environments,
		Paths:        f.paths,
		Explicit:     explicitVersions,
		Versions:     registries.For(""),
		MaxFileSize:  f.maxFileSize,
		Now:          time.Now,
		Progress:     progress.Show,
	})
	progress.Clear()
	if closing := registries.Close(); closing != nil {
		render.PrintMessage(system.Err, "%v", closing) // only the cache is affected
	}
	return opened, preview, err
}

// readVersions reads the versions of --with. Canceling the context ends the wait for a
// list.
func (f *planFlags) readVersions(ctx context.Context, in io.Reader) (image.ExplicitVersions, error) {
	var list io.Reader
	if slices.Contains(f.with, "-") {
		reader, writer := io.Pipe()
		defer func() { _ = reader.Close() }() // ends the copying if the list is invalid
		defer context.AfterFunc(ctx, func() { _ = reader.CloseWithError(context.Cause(ctx)) })()
		go func() {
			_, err := io.Copy(writer, in)
			_ = writer.CloseWithError(err)
		}()
		list = reader
	}
	explicitVersions, err := image.ParseExplicitVersions(f.with, list)
	if err == nil && len(f.with) > 0 && len(explicitVersions) == 0 {
		err = fault.New(fault.Invalid, "--with -: the list names no version")
	}
	return explicitVersions, err
}

// render returns the renderer of the output format.
func (f *planFlags) render(system console.System) (render.Plan, error) {
	paint, err := console.NewPainter(f.color, system)
	if err != nil {
		return nil, err
	}
	return render.NewPlan(f.output, f.summary, paint, system.OutTerminal)
}
