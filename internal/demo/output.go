package demo

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The demo prints a lesson: of the output of the commands, only the lines that
// matter, all indented by this. Verbose, it prints the whole output.
const indent = "   "

// promoter runs a command, and checks its output, its exit code, and the files of
// main.
func (s *show) promoter(ctx context.Context, args, shown []string, checked ...string) (string, error) {
	printed, err := s.execute(ctx, args, shown, checked...)
	if err != nil {
		return "", err
	}
	return printed, s.compare(ctx)
}

// execute runs a command, and checks its output and its exit code. Some line of the output
// must match each pattern; the lesson consists of the lines that match the patterns of
// shown. What a running service does next may be over before the command is.
func (s *show) execute(ctx context.Context, args, shown []string, checked ...string) (string, error) {
	s.command("promoter " + inWords(args))
	var printed strings.Builder
	out := io.Writer(&printed)
	if s.options.Verbose {
		out = io.MultiWriter(s.options.Out, &printed)
	}
	code := s.options.Promoter(ctx, out, s.inFolder(args)...)
	if code != 0 && ctx.Err() == nil {
		return "", fmt.Errorf("promise broken: promoter %s ended with exit code %d, not 0\n%s", args[0], code, printed.String())
	}
	for _, pattern := range slices.Concat(shown, checked) {
		if err := prints(args[0], printed.String(), pattern); err != nil {
			return "", err
		}
	}
	if !s.options.Verbose {
		s.excerpt(printed.String(), shown)
	}
	return uncolored(printed.String()), nil
}

// run reconciles the repository once.
func (s *show) run(ctx context.Context, shown []string, checked ...string) (string, error) {
	return s.promoter(ctx, []string{"run"}, shown, checked...)
}

// inFolder returns the arguments with which a command does here what it does in the
// folder of the demo.
func (s *show) inFolder(args []string) []string {
	if i := slices.Index(args, "--dir"); i >= 0 {
		args = slices.Clone(args)
		args[i+1] = filepath.Join(s.folder, args[i+1])
		return args
	}
	return append(slices.Clone(args), "--config", s.file)
}

// excerpt prints the lines that match a pattern.
func (s *show) excerpt(printed string, patterns []string) {
	for line := range strings.Lines(printed) {
		matches := func(pattern string) bool {
			return regexp.MustCompile(pattern).MatchString(strings.TrimSuffix(uncolored(line), "\n"))
		}
		if slices.ContainsFunc(patterns, matches) {
			s.say("%s", strings.TrimSpace(line))
		}
	}
}

// uncolored removes the colors that commands print on a terminal.
func uncolored(printed string) string {
	return regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(printed, "")
}

// prints returns an error unless a line of the output matches.
func prints(verb, printed, pattern string) error {
	if !regexp.MustCompile(`(?m)` + pattern).MatchString(uncolored(printed)) {
		return fmt.Errorf("promise broken: promoter %s does not print %q, but\n%s", verb, pattern, printed)
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

// command prints a command line as a user enters it in the folder of the demo.
func (s *show) command(line string) {
	if s.options.Verbose {
		fmt.Fprintf(s.options.Out, "\n$ %s\n", line)
	} else {
		fmt.Fprintf(s.options.Out, indent+"$ %s\n", line)
	}
}

// say prints a message to the user.
func (s *show) say(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if s.options.Verbose {
		fmt.Fprintf(s.options.Out, "\n%s\n", message)
	} else {
		for line := range strings.SplitSeq(message, "\n") {
			fmt.Fprintf(s.options.Out, "%s%s\n", indent, wrap(line))
		}
	}
}

// width of the lesson, which fits into a small terminal.
const width = 100

// wrap breaks a long line of the lesson at its last space that fits.
func wrap(line string) string {
	if len(uncolored(line)) <= width-len(indent) {
		return line
	}
	if at := strings.LastIndex(line[:width-len(indent)], " "); at > 0 {
		return line[:at] + "\n" + indent + "  " + line[at+1:]
	}
	return line
}

// detail prints a message that is not part of the lesson.
func (s *show) detail(format string, args ...any) {
	if s.options.Verbose {
		s.say(format, args...)
	}
}

// change prints the lines in which two versions of a file differ.
func (s *show) change(before, after string) {
	old, changed := strings.Split(before, "\n"), strings.Split(after, "\n")
	var lines []string
	for i := range min(len(old), len(changed)) {
		if old[i] != changed[i] {
			lines = append(lines, "-"+old[i], "+"+changed[i])
		}
	}
	s.say("%s", strings.Join(lines, "\n"))
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
	s.detail("Waiting until %s.", until.Format(time.TimeOnly))
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
