package cli

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/updater"
)

// planFlags are the flags that plan and apply share.
type planFlags struct {
	dir          string
	environments []string
	with         []string
	paths        []string
	output       string
	color        string
	cache        string
	networks     []string
	maxFileSize  int64
	exitCode     bool
}

func (f *planFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.dir, "dir", ".", flagDir)
	flags.StringArrayVar(&f.environments, "env", nil, flagEnv)
	flags.StringArrayVar(&f.with, "with", nil, flagWith)
	flags.StringArrayVar(&f.paths, "path", nil, flagPath)
	flags.StringVarP(&f.output, "output", "o", "text", flagOutput)
	flags.StringVar(&f.color, "color", "auto", flagColor)
	flags.StringVar(&f.cache, "cache", "", flagCache)
	flags.StringArrayVar(&f.networks, "network", nil, flagNetwork)
	flags.Int64Var(&f.maxFileSize, "max-file-size", updater.DefaultMaxFileSize, flagMaxFileSize)
	flags.BoolVar(&f.exitCode, "exit-code", false, flagExitCode)
}

// preview opens the checkout and plans.
func (f *planFlags) preview(command *cobra.Command, system System) (*checkout.Checkout, *checkout.Preview, error) {
	given, err := f.given(command.Context(), system.In)
	if err != nil {
		return nil, nil, err
	}
	opened, err := checkout.Open(f.dir, given)
	if err != nil {
		return nil, nil, err
	}
	registries, err := connect.NewLocalRegistries(connect.RegistryOptions{CacheDir: f.cache, Networks: f.networks, Now: time.Now})
	if err != nil {
		return nil, nil, err
	}
	progress := newProgress(system)
	preview, err := opened.Plan(command.Context(), checkout.Options{
		Environments: f.environments,
		Paths:        f.paths,
		Explicit:     given,
		Versions:     registries.View(),
		MaxFileSize:  f.maxFileSize,
		Now:          time.Now,
		Progress:     progress.show,
	})
	progress.clear()
	if closing := registries.Close(); closing != nil {
		say(system.Err, "%v", closing) // the next run asks again; this one is not worse for it
	}
	return opened, preview, err
}

// given reads the named versions. Waiting for a list ends with the context.
func (f *planFlags) given(ctx context.Context, in io.Reader) (image.ExplicitVersions, error) {
	var list io.Reader
	if slices.Contains(f.with, "-") {
		reader, writer := io.Pipe()
		defer func() { _ = reader.Close() }() // lets the copying end when the list is wrong in the middle
		defer context.AfterFunc(ctx, func() { _ = reader.CloseWithError(context.Cause(ctx)) })()
		go func() {
			_, err := io.Copy(writer, in)
			_ = writer.CloseWithError(err)
		}()
		list = reader
	}
	given, err := image.ParseExplicitVersions(f.with, list)
	if err == nil && len(f.with) > 0 && len(given) == 0 {
		err = fault.New(fault.Invalid, "--with -: the list names no version")
	}
	return given, err
}

// render returns the way of printing that was asked for.
func (f *planFlags) render(system System) (renderer, error) {
	paint, err := newPainter(f.color, system)
	if err != nil {
		return nil, err
	}
	switch f.output {
	case "text":
		return textRenderer{paint}, nil
	case "diff":
		return diffRenderer{paint: paint, visible: system.OutTerminal}, nil
	case "json":
		return jsonRenderer{}, nil
	default:
		return nil, fault.New(fault.Invalid, "--output %s: want text, json or diff", f.output)
	}
}
