package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Exit codes of the verbs that the demo runs.
const (
	exitDone    = 0
	exitChanges = 2
)

// Options say where the demo shows itself.
type Options struct {
	// Out takes the story and what the verbs print.
	Out io.Writer
	// Promoter runs one command line of promoter, prints to out, and returns the
	// exit code.
	Promoter func(ctx context.Context, out io.Writer, args ...string) int
	// Keep leaves the folder there to look at.
	Keep bool
}

// Run shows the demo. An error means that a promise was broken, or that the
// surroundings failed. The folder is removed in every case unless it is kept.
func Run(ctx context.Context, options Options) (err error) {
	folder, err := os.MkdirTemp("", "promoter-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() {
		if options.Keep {
			fmt.Fprintf(options.Out, "\nThe repository is kept in %s; its registry is gone.\n", folder)
			return
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	registry, err := startRegistry(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, registry.stop()) }()
	s := &show{Options: options, dir: filepath.Join(folder, "gitops"), registry: registry}
	return s.run(ctx)
}

// show is one performance.
type show struct {
	Options
	dir      string
	registry *registry
	number   int
}

// run tells the story. Every step ends with the check of its promise.
func (s *show) run(ctx context.Context) error {
	before, err := s.registry.publish(ctx, firstRelease())
	if err != nil {
		return err
	}
	tree := s.registry.tree(before, before)
	if err := tree.write(s.dir); err != nil {
		return err
	}
	s.say("A registry on %s, and a GitOps repository with dev and staging:", s.registry.host)
	s.list(tree)
	s.say("Everything is up to date.")
	if err := s.step(ctx, exitDone, tree, "plan", "--exit-code"); err != nil {
		return err
	}
	after, err := s.registry.publish(ctx, secondRelease())
	if err != nil {
		return err
	}
	s.say("The pipeline pushes %s. What would change, and why?", after)
	return s.promote(ctx, before, after)
}

// promote carries the release from dev to staging, one environment at a time.
func (s *show) promote(ctx context.Context, before, after release) error {
	old, half, whole := s.registry.tree(before, before), s.registry.tree(after, before), s.registry.tree(after, after)
	if err := s.step(ctx, exitChanges, old, "plan", "--exit-code"); err != nil {
		return err
	}
	s.say("Write it. Staging keeps what it has: it takes what dev has, not what the registry has.")
	if err := s.brief(ctx, exitDone, half, "apply"); err != nil {
		return err
	}
	s.say("Now dev has the release, so staging is next, with the same digests.")
	if err := s.step(ctx, exitChanges, half, "plan", "--exit-code"); err != nil {
		return err
	}
	if err := s.brief(ctx, exitDone, whole, "apply"); err != nil {
		return err
	}
	s.say("Doing it again changes nothing.")
	if err := s.step(ctx, exitDone, whole, "apply", "--exit-code"); err != nil {
		return err
	}
	s.say("Every file was compared with what was promised, byte by byte, after every step.")
	return nil
}

// step runs a verb and holds the exit code and the whole tree against what is
// promised.
func (s *show) step(ctx context.Context, wantCode int, want tree, args ...string) error {
	args = append(args, "--dir", s.dir)
	fmt.Fprintf(s.Out, "\n$ promoter %s\n", strings.Join(args, " "))
	return s.check(ctx, wantCode, want, s.Out, args)
}

// brief is a step that shows only the last line of what the verb prints: the
// difference has just been seen.
func (s *show) brief(ctx context.Context, wantCode int, want tree, args ...string) error {
	var printed strings.Builder
	args = append(args, "--dir", s.dir)
	fmt.Fprintf(s.Out, "\n$ promoter %s 2>&1 | tail -n 1\n", strings.Join(args, " "))
	err := s.check(ctx, wantCode, want, &printed, args)
	lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
	fmt.Fprintln(s.Out, lines[len(lines)-1])
	return err
}

func (s *show) check(ctx context.Context, wantCode int, want tree, out io.Writer, args []string) error {
	code := s.Promoter(ctx, out, args...)
	if err := ctx.Err(); err != nil {
		return err
	}
	if code != wantCode {
		return fmt.Errorf("promise broken: promoter %s ended with exit code %d, not %d", args[0], code, wantCode)
	}
	return want.compare(s.dir)
}

func (s *show) say(format string, args ...any) {
	s.number++
	fmt.Fprintf(s.Out, "\n%d. "+format+"\n", append([]any{s.number}, args...)...)
}

func (s *show) list(t tree) {
	for _, name := range t.names() {
		fmt.Fprintf(s.Out, "   %s\n", name)
	}
}
