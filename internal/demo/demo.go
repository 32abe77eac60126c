// Package demo demonstrates complete promotions in a self-contained
// environment: a registry and a Git server on loopback and, in a temporary
// folder, a bare Git repository with three applications in dev, staging and
// prod, a user's clone, and a server file. The real commands promote new images
// from dev to prod; the user requests a promotion, moves a window, and reverts a
// bad image. Then the service runs on the same repository, and the registry and
// the Git server notify it of pushes, and reports of health let prod follow and
// roll back a bad release.
//
// With a GitHub Enterprise server on this machine, or an emulator of one, the
// demo uses pull requests, which the user merges and closes there.
//
// After each step the demo compares the files of the repository byte by byte
// with the expected content, and the output with the expected patterns. It
// fails, naming the step, if they differ. It writes nothing outside the
// temporary folder except two repositories on that server, which are removed at
// the end, and connects only to loopback.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Options configure the demo.
type Options struct {
	// Out receives the story and the output of the commands.
	Out io.Writer
	// Promoter runs one promoter command line, prints to out, and returns the
	// exit code.
	Promoter func(ctx context.Context, out io.Writer, args ...string) int
	// Title formats the title of a step.
	Title func(string) string
	// Program is the path of promoter, for the commands that the user is shown.
	Program string
	// Verbose prints the whole output of the commands and the log of the service,
	// rather than the lines that matter.
	Verbose bool
	// Once exits after the last step. Otherwise everything keeps running until
	// the context is done, for you to try out.
	Once bool
	// Keep keeps the folder for inspection.
	Keep bool
	// GitHub is the server for pull requests. If nil, the demo uses plain Git.
	GitHub *GitHub
	Now    func() time.Time
}

// Run runs the demo. An error names the step and means that a check failed or
// that the environment failed. The folder is always removed unless Keep is set.
func Run(ctx context.Context, options Options) (err error) {
	folder, err := os.MkdirTemp("", "promoter-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	kept := folder
	defer func() {
		if options.Keep {
			fmt.Fprintf(options.Out, "\nThe repository is kept in %s; its registry is gone.\n", kept)
			return
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	registry, err := startRegistry(ctx, options.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, registry.loopback.stop()) }()
	s, err := newShow(ctx, options, folder, registry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if s.github != nil {
		kept += ", and at the forge as " + s.github.fullName()
	}
	if err := s.perform(ctx); err != nil || options.Once {
		return err
	}
	invite(s)
	<-ctx.Done()
	fmt.Fprintln(options.Out, "\nThe demo has stopped.")
	return nil
}

// show is one run of the demo.
type show struct {
	options  Options
	folder   string
	file     string // the server file, in the folder
	registry *registry
	hub      *hub
	github   *github  // nil: plain Git
	git      *gitHost // nil: the repository is on GitHub
	service  *service // nil: there is none on GitHub
	ann      *user
	sources  *user  // of the shop, on GitHub; nil: there are none
	want     sample // the expected content of main
	before   []version
	after    []version
	number   int    // of the step
	step     string // what it shows
}

// The names in the folder of the demo.
const (
	serverFileName = "promoter-server.yaml" // the commands read it in their folder
	cloneName      = "gitops"
)

func newShow(ctx context.Context, options Options, folder string, r *registry) (*show, error) {
	h, err := newHub(filepath.Join(folder, "gitops.git"))
	if err != nil {
		return nil, err
	}
	s := &show{options: options, folder: folder, file: filepath.Join(folder, serverFileName), registry: r, hub: h}
	// Prod's window opens long after the demo, until the user moves it.
	opens := later(options.Now(), time.Hour)
	s.want = sample{host: r.loopback.host, config: config, opens: opens, holds: map[place]version{}}
	if options.GitHub != nil {
		return s, prepareGitHub(ctx, s)
	}
	if s.git, err = startGitHost(ctx, h, options.Now); err != nil {
		return nil, err
	}
	h.address = s.git.url()
	s.service, err = newService(ctx, s)
	if err == nil {
		s.ann, err = newUser("ann", filepath.Join(folder, cloneName), h, options.Now)
	}
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// later returns a time in config format.
func later(now time.Time, by time.Duration) time.Time {
	return now.UTC().Truncate(time.Second).Add(by)
}

// close stops what runs and removes the remote resources of the demo.
func (s *show) close(ctx context.Context) (err error) {
	if s.service != nil {
		err = s.service.end()
	}
	if s.git != nil {
		err = errors.Join(err, s.git.loopback.stop())
	}
	if s.github != nil && !s.options.Keep {
		err = errors.Join(err, s.github.remove(ctx, s.github.name, s.github.sources))
	}
	return err
}

// perform runs the steps and names the one that failed.
func (s *show) perform(ctx context.Context) error {
	chapters := chapters()
	if s.github != nil {
		chapters = chaptersOnGitHub()
	}
	introduce(s)
	for _, chapter := range chapters {
		s.number++
		s.step = chapter.title
		fmt.Fprintf(s.options.Out, "\n%s\n", s.options.Title(fmt.Sprintf("%d. %s", s.number, s.step)))
		err := chapter.play(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("step %d of the demo (%s): %w", s.number, s.step, err)
		}
	}
	return nil
}
