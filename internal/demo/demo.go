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

// Options say where the demo shows itself.
type Options struct {
	// Out takes the story and what the verbs print.
	Out io.Writer
	// Promoter runs one command line of promoter, prints to out, and returns the
	// exit code.
	Promoter func(ctx context.Context, out io.Writer, args ...string) int
	// Once ends after the last step. Otherwise everything keeps running until the
	// context ends, to play with.
	Once bool
	// Keep leaves the folder there to look at.
	Keep bool
	// GitHub is where pull requests are. Nil: the story on plain Git.
	GitHub *GitHub
	Now    func() time.Time
}

// Run shows the demo. An error means that a promise was broken, or that the
// surroundings failed, and names the step. The folder is removed in every case
// unless it is kept.
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
	defer func() { err = errors.Join(err, registry.stop()) }()
	s, err := newShow(ctx, options, folder, registry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if s.github != nil {
		kept += ", and at the forge as " + s.github.name
	}
	if err := s.perform(ctx); err != nil || options.Once {
		return err
	}
	s.invite()
	<-ctx.Done()
	fmt.Fprintln(options.Out, "\nThe end.")
	return nil
}

// show is one performance.
type show struct {
	Options
	folder   string
	registry *registry
	hub      *hub
	github   *github  // nil: the story on plain Git
	service  *service // nil before it is started
	ann      *person
	target   []string // the flags that name the repository
	want     sample   // what main has to hold now
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
	s := &show{Options: options, folder: folder, registry: r, hub: h}
	// Prod's window opens long after the demo, until somebody moves it.
	s.want = sample{host: r.host, config: config, opens: later(options.Now(), time.Hour), holds: map[place]version{}}
	if options.GitHub != nil {
		return s, s.onGitHub(ctx)
	}
	s.target = []string{"--repo", h.url()}
	s.ann, err = newPerson("ann", filepath.Join(folder, "ann"), h, options.Now)
	return s, err
}

// later is a time as a config says it.
func later(now time.Time, by time.Duration) time.Time {
	return now.UTC().Truncate(time.Second).Add(by)
}

// close ends the service, and what the show began elsewhere.
func (s *show) close(ctx context.Context) (err error) {
	if s.service != nil {
		err = s.service.end()
	}
	if s.github != nil {
		err = errors.Join(err, s.github.close(ctx, s.Keep))
	}
	return err
}

// perform tells the story, and names the step in which it ended early.
func (s *show) perform(ctx context.Context) error {
	for _, chapter := range s.chapters() {
		s.number++
		s.step = chapter.title
		fmt.Fprintf(s.Out, "\n%d. %s\n", s.number, s.step)
		err := chapter.tell(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("step %d of the demo (%s): %w", s.number, s.step, err)
		}
	}
	return nil
}

// promoter runs a verb on the repository, and holds what it prints, its exit code
// and the files of main against what is promised: every pattern matches in it.
func (s *show) promoter(ctx context.Context, args []string, promised ...string) (string, error) {
	fmt.Fprintf(s.Out, "\n$ promoter %s\n", inWords(args))
	var printed strings.Builder
	code := s.Promoter(ctx, io.MultiWriter(s.Out, &printed), args...)
	if code != 0 && ctx.Err() == nil {
		return "", fmt.Errorf("promise broken: promoter %s ended with exit code %d, not 0", args[0], code)
	}
	for _, pattern := range promised {
		if err := says(args[0], printed.String(), pattern); err != nil {
			return "", err
		}
	}
	return printed.String(), s.compare(ctx)
}

// says fails unless a line of what a verb printed matches.
func says(verb, printed, pattern string) error {
	if !regexp.MustCompile(`(?m)` + pattern).MatchString(printed) {
		return fmt.Errorf("promise broken: promoter %s does not say %q", verb, pattern)
	}
	return nil
}

// compare holds the files of main against what is promised, wherever it moved.
func (s *show) compare(ctx context.Context) error {
	if s.github != nil {
		if err := s.github.sync(ctx); err != nil {
			return err
		}
	}
	return s.hub.compare(s.want.tree())
}

// run makes one pass over the repository.
func (s *show) run(ctx context.Context, promised ...string) (string, error) {
	return s.promoter(ctx, append([]string{"run"}, s.target...), promised...)
}

// inWords writes a command line as a shell reads it.
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

// tell says something to whoever watches.
func (s *show) tell(format string, args ...any) {
	fmt.Fprintf(s.Out, "\n"+format+"\n", args...)
}

// maxWait bounds how long the demo waits for what a decision names: more would be
// a broken promise.
const maxWait = 10 * time.Second

// wait waits until the time that a decision names, and not longer.
func (s *show) wait(ctx context.Context, until time.Time) error {
	left := until.Sub(s.Now())
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

// untilIn returns the last time that the lines of a pattern name.
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
