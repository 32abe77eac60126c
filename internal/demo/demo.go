// Package demo demonstrates complete promotions in a self-contained
// environment: a registry on loopback and, in a temporary folder, a bare Git
// repository with three applications in dev, staging and prod, and a user's
// clone. The real commands promote new images from dev to prod; the user
// requests a promotion, moves a window, and reverts a bad image. Then the
// service runs on the same repository, and the registry notifies it of pushed
// images.
//
// With a GitHub Enterprise server on this machine, or an emulator of one, the
// demo uses pull requests, which the user merges and closes there.
//
// After each step the demo compares the files of the repository byte by byte
// with the expected content, and the output with the expected patterns. It
// fails, naming the step, if they differ. It writes nothing outside the
// temporary folder except one repository on that server, which is removed at
// the end, and connects only to loopback.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Options configure the demo.
type Options struct {
	// Out receives the story and the output of the commands.
	Out io.Writer
	// Promoter runs one promoter command line, prints to out, and returns the
	// exit code.
	Promoter func(ctx context.Context, out io.Writer, args ...string) int
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
	fmt.Fprintln(options.Out, "\nThe end.")
	return nil
}

// show is one run of the demo.
type show struct {
	options  Options
	folder   string
	registry *registry
	hub      *hub
	github   *github  // nil: plain Git
	service  *service // nil before it is started
	ann      *person
	target   []string // the flags that name the repository
	want     sample   // the expected content of main
	before   []version
	after    []version
	number   int    // of the step
	step     string // what it shows
}

func newShow(ctx context.Context, options Options, folder string, r *registry) (*show, error) {
	h, err := newHub(filepath.Join(folder, "gitops.git"))
	if err != nil {
		return nil, err
	}
	s := &show{options: options, folder: folder, registry: r, hub: h}
	// Prod's window opens long after the demo, until the user moves it.
	s.want = sample{host: r.loopback.host, config: config, opens: later(options.Now(), time.Hour), holds: map[place]version{}}
	if options.GitHub != nil {
		return s, prepareGitHub(ctx, s)
	}
	s.target = []string{"--repo", h.url()}
	s.ann, err = newPerson("ann", filepath.Join(folder, "ann"), h, options.Now)
	return s, err
}

// later returns a time in config format.
func later(now time.Time, by time.Duration) time.Time {
	return now.UTC().Truncate(time.Second).Add(by)
}

// close stops the service and removes the remote resources of the demo.
func (s *show) close(ctx context.Context) (err error) {
	if s.service != nil {
		err = s.service.end()
	}
	if s.github != nil && !s.options.Keep {
		err = errors.Join(err, s.github.remove(ctx))
	}
	return err
}

// perform runs the steps and names the one that failed.
func (s *show) perform(ctx context.Context) error {
	chapters := chapters()
	if s.github != nil {
		chapters = chaptersOnGitHub(s.ann.name)
	}
	for _, chapter := range chapters {
		s.number++
		s.step = chapter.title
		fmt.Fprintf(s.options.Out, "\n%d. %s\n", s.number, s.step)
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

// promoter runs a command on the repository and checks its output, its exit
// code and the files of main: every pattern must match the output.
func (s *show) promoter(ctx context.Context, args []string, promised ...string) (string, error) {
	fmt.Fprintf(s.options.Out, "\n$ promoter %s\n", inWords(args))
	var printed strings.Builder
	code := s.options.Promoter(ctx, io.MultiWriter(s.options.Out, &printed), args...)
	if code != 0 && ctx.Err() == nil {
		return "", fmt.Errorf("promise broken: promoter %s ended with exit code %d, not 0", args[0], code)
	}
	for _, pattern := range promised {
		if err := prints(args[0], printed.String(), pattern); err != nil {
			return "", err
		}
	}
	return printed.String(), s.compare(ctx)
}

// prints returns an error unless a line of the output matches.
func prints(verb, printed, pattern string) error {
	if !regexp.MustCompile(`(?m)` + pattern).MatchString(printed) {
		return fmt.Errorf("promise broken: promoter %s does not print %q", verb, pattern)
	}
	return nil
}

// compare checks that the files of main have the expected content.
func (s *show) compare(ctx context.Context) error {
	if err := s.hub.fetch(ctx); err != nil {
		return err
	}
	return s.hub.compare(s.want.tree())
}

// run reconciles the repository once.
func (s *show) run(ctx context.Context, promised ...string) (string, error) {
	return s.promoter(ctx, append([]string{"run"}, s.target...), promised...)
}

// inWords formats a command line for a shell.
func inWords(args []string) string {
	quoted := make([]string, 0, len(args))
	for _, arg := range args {
		if strings.ContainsAny(arg, " '") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		quoted = append(quoted, arg)
	}
	return strings.Join(quoted, " ")
}

// tell prints a message to the user.
func (s *show) tell(format string, args ...any) {
	fmt.Fprintf(s.options.Out, "\n"+format+"\n", args...)
}

// maxWait limits how long the demo waits for the time that a decision names. A
// longer wait is a failure.
const maxWait = 10 * time.Second

// wait waits until the time that a decision names, and not longer.
func (s *show) wait(ctx context.Context, until time.Time) error {
	left := until.Sub(s.options.Now())
	if left <= 0 {
		return nil
	}
	if left > maxWait {
		return fmt.Errorf("promise broken: it takes until %s, which is too long for a demo", until.Format(time.RFC3339))
	}
	s.tell("Waiting until %s.", until.Format(time.TimeOnly))
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// untilIn returns the latest time in the lines that match a pattern.
func untilIn(printed, pattern string) (time.Time, error) {
	var last time.Time
	for _, found := range regexp.MustCompile(`(?m)`+pattern+`.*, until (\S+)`).FindAllStringSubmatch(printed, -1) {
		until, err := time.Parse(time.RFC3339, found[1])
		if err != nil {
			return time.Time{}, fmt.Errorf("promise broken: %w", err)
		}
		if until.After(last) {
			last = until
		}
	}
	if last.IsZero() {
		return last, fmt.Errorf("promise broken: no time is named with %q", pattern)
	}
	return last, nil
}
