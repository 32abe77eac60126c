package client

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/cli/render"
	"promoter/internal/promotion"
	"promoter/internal/view"
)

// newScreen returns where the output appears: in place on a terminal, otherwise what
// changed, as text or as one JSON document per line.
func newScreen(system console.System, output string, paint render.Painter) screen {
	if output == "text" && system.OutTerminal {
		return &terminal{out: system.Out, height: system.Height, paint: paint}
	}
	return &changeLog{out: system.Out, messages: system.Err, json: output == "json", paint: paint}
}

// Control sequences of terminals (ECMA-48, and xterm's private modes): another screen
// without a cursor and without lines that wrap, and back; the first line; the rest of the
// line; the rest of the screen.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	eraseLine   = "\x1b[K"
	eraseBelow  = "\x1b[J"
)

// terminal replaces the whole screen with each state. The last one stays when it closes.
type terminal struct {
	out    io.Writer
	height func() int // lines of the terminal; 0: unknown
	paint  render.Painter
	open   bool
	last   report
}

func (t *terminal) show(state report) error {
	t.last = state
	return t.draw(state.At.UTC().Format(time.DateTime+"Z") + "  Ctrl-C to leave")
}

func (t *terminal) lost(err error) {
	head := render.Visible("state of " + t.last.At.UTC().Format(time.DateTime+"Z") + ": " + err.Error())
	_ = t.draw(t.paint.Paint(render.ColorRed, head))
}

// draw writes one frame at once, so that nothing flickers.
func (t *terminal) draw(head string) error {
	lines := append([]string{head, ""}, strings.Split(strings.TrimSuffix(t.last.text(t.paint), "\n"), "\n")...)
	if height := t.lines(); height > 1 && len(lines) > height {
		more := render.Count(len(lines)-height+1, "more line", "more lines")
		lines = append(lines[:height-1], fmt.Sprintf("and %s: --repo, --env, --app, and --status select", more))
	}
	var frame strings.Builder
	if !t.open {
		frame.WriteString(enterScreen)
		t.open = true
	}
	frame.WriteString(cursorHome + strings.Join(lines, eraseLine+"\r\n") + eraseLine + eraseBelow)
	return render.Write(t.out, frame.String())
}

func (t *terminal) lines() int {
	if t.height == nil {
		return 0
	}
	return t.height()
}

func (t *terminal) close() error {
	if !t.open {
		return nil
	}
	return render.Write(t.out, leaveScreen+t.last.text(t.paint))
}

// changeLog appends what changed since the state before.
type changeLog struct {
	out, messages io.Writer
	json          bool
	paint         render.Painter
	shown         bool
	last          report
	failing       bool
}

func (l *changeLog) show(state report) error {
	if l.failing {
		l.failing = false
		render.PrintMessage(l.messages, "the service answers again")
	}
	changed := state
	if l.shown {
		changed = state.since(l.last)
	}
	l.last = state
	if l.shown && len(changed.Repositories)+len(changed.removed) == 0 {
		return nil
	}
	first := !l.shown
	l.shown = true
	if l.json {
		return render.WriteJSONLine(l.out, state)
	}
	text := state.At.UTC().Format(time.DateTime+"Z") + "\n" + changed.text(l.paint)
	if !first {
		text = "\n" + text
	}
	return render.Write(l.out, text)
}

func (l *changeLog) lost(err error) {
	if !l.failing {
		render.PrintMessage(l.messages, "%v; trying again", err)
	}
	l.failing = true
}

func (l *changeLog) close() error { return nil }

// since returns the repositories that differ from another state, with the targets that do, and
// what is not listed any more: it was removed, or the flags do not select it now.
// That a repository was reconciled again is no difference.
func (r report) since(before report) report {
	known := map[[3]string]view.TargetRow{}
	for _, row := range before.Applications {
		for _, one := range row.Targets {
			known[[3]string{row.Key, row.Application, one.Environment}] = one
		}
	}
	changed := report{Status: api.Status{Schema: r.Schema, At: r.At}, selected: true, removed: r.missing(before)}
	for _, row := range r.Applications {
		row.Targets = slices.DeleteFunc(slices.Clone(row.Targets), func(one view.TargetRow) bool {
			old, found := known[[3]string{row.Key, row.Application, one.Environment}]
			return found && sameTarget(old, one)
		})
		if len(row.Targets) > 0 {
			changed.Applications = append(changed.Applications, row)
		}
	}
	for _, one := range r.Repositories {
		i := slices.IndexFunc(before.Repositories, func(old api.Repository) bool { return old.Key == one.Key })
		if i < 0 || !sameRepository(before.Repositories[i], one) || slices.ContainsFunc(changed.Applications, inRepository(one)) {
			changed.Repositories = append(changed.Repositories, one)
		}
	}
	return changed
}

// missing names the repositories of another state that are not in this one, and the targets of
// the others that are not.
func (r report) missing(before report) (names []string) {
	listed := map[[3]string]bool{}
	for _, row := range r.Applications {
		for _, one := range row.Targets {
			listed[[3]string{row.Key, row.Application, one.Environment}] = true
		}
	}
	for _, repository := range before.Repositories {
		if !slices.ContainsFunc(r.Repositories, func(one api.Repository) bool { return one.Key == repository.Key }) {
			names = append(names, repository.Name)
			continue
		}
		for _, one := range before.targetsOf(repository) {
			if !listed[[3]string{repository.Key, one.application, one.Environment}] {
				target := promotion.Target{Environment: one.Environment, Application: one.application}
				names = append(names, repository.Name+"  "+render.TargetName(target))
			}
		}
	}
	return names
}

func sameTarget(a, b view.TargetRow) bool {
	if a.Version != b.Version || a.Wanted != b.Wanted || !a.Landed.Equal(b.Landed) {
		return false
	}
	if a.Status != b.Status || a.State != b.State || a.Health != b.Health || a.Held != b.Held {
		return false
	}
	sameReason := a.Reason == b.Reason ||
		a.Reason != nil && b.Reason != nil && a.Reason.Message == b.Reason.Message && a.Reason.Until.Equal(b.Reason.Until)
	samePullRequest := a.PullRequest == b.PullRequest ||
		a.PullRequest != nil && b.PullRequest != nil && a.PullRequest.Number == b.PullRequest.Number
	return sameReason && samePullRequest
}

func sameRepository(a, b api.Repository) bool {
	failing := func(one api.Repository) bool { return one.State == api.StateFailing }
	return failing(a) == failing(b) && a.Failure == b.Failure && a.LastError == b.LastError && slices.Equal(a.Drift, b.Drift)
}
