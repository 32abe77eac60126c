package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/cli/console"
	"promoter/internal/view"
)

// Without a terminal, only what changed is shown, with the time of the change.
func TestChangeLog(t *testing.T) {
	t.Parallel()
	var out, messages bytes.Buffer
	l := newScreen(console.System{Out: &out, Err: &messages}, "text", false)
	show(t, l, sample(0, row("dev", "1.5.0", view.UpToDate), row("prod", "1.4.2", view.Waiting)))
	show(t, l, sample(10, row("dev", "1.5.0", view.UpToDate), row("prod", "1.4.2", view.Waiting)))
	l.lost(errors.New("no service answers"))
	l.lost(errors.New("no service answers"))
	show(t, l, sample(20, row("dev", "1.5.0", view.UpToDate), row("prod", "1.5.0", view.UpToDate)))
	failing := sample(30, row("dev", "1.5.0", view.UpToDate), row("prod", "1.5.0", view.UpToDate))
	failing.Repositories[0].State, failing.Repositories[0].Failure = api.StateFailing, "ask h: 502"
	show(t, l, failing)
	smaller := sample(40, row("dev", "1.5.0", view.UpToDate))
	smaller.Repositories[0].State, smaller.Repositories[0].Failure = api.StateFailing, "ask h: 502"
	show(t, l, smaller)
	show(t, l, report{Status: api.Status{At: smaller.At.Add(10 * time.Second)}})
	if err := l.close(); err != nil {
		t.Error(err)
	}
	want := `2026-06-01 12:00:00Z
h/acme/gitops  idle, reconciled 1s ago
  application  environment  version  age  status
  shop         dev          1.5.0    3h   up to date
  shop         prod         1.4.2    3h   waiting

2026-06-01 12:00:20Z
h/acme/gitops  idle, reconciled 1s ago
  application  environment  version  age  status
  shop         prod         1.5.0    3h   up to date

2026-06-01 12:00:30Z
h/acme/gitops  failing, reconciled 1s ago
  ask h: 502

2026-06-01 12:00:40Z
no longer listed: h/acme/gitops  prod/shop

2026-06-01 12:00:50Z
no longer listed: h/acme/gitops
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "promoter: no service answers; trying again\npromoter: the service answers again\n"; messages.String() != want {
		t.Errorf("messages %q, want %q", messages.String(), want)
	}
}

// As JSON, each change is one line with the whole state.
func TestChangeLog_json(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newScreen(console.System{Out: &out, OutTerminal: true}, "json", false)
	for _, version := range []string{"1.4.2", "1.4.2", "1.5.0"} {
		show(t, l, sample(0, row("dev", version, view.UpToDate)))
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	var last struct {
		Repositories []json.RawMessage
		Applications []view.ApplicationRow
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 2 || len(last.Repositories) != 1 || last.Applications[0].Targets[0].Version != "1.5.0" {
		t.Errorf("%v in\n%s", err, out.String())
	}
}

// A terminal shows each state in place, as many lines as it has, and keeps the last one.
func TestTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(console.System{Out: &out, OutTerminal: true, Height: func() int { return 4 }}, "text", false)
	state := sample(0, row("dev", "1.5.0", view.UpToDate), row("prod", "1.4.2", view.Waiting))
	show(t, s, state)
	first := "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H2026-06-01 12:00:00Z  Ctrl-C to leave\x1b[K\r\n\x1b[K\r\nh/acme/gitops  idle, reconciled 1s ago\x1b[K\r\n" +
		"and 3 more lines: --repo, --env, --app, and --status select\x1b[K\x1b[J"
	if diff := cmp.Diff(first, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	s.lost(errors.New("no service\nanswers"))
	if want := "\x1b[Hstate of 2026-06-01 12:00:00Z: no service\\nanswers\x1b[K\r\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("%q does not begin with %q", out.String(), want)
	}
	out.Reset()
	if err := s.close(); err != nil || out.String() != "\x1b[?7h\x1b[?25h\x1b[?1049l"+state.text(false) {
		t.Errorf("%v, %q", err, out.String())
	}
}

func show(t *testing.T, s screen, state report) {
	t.Helper()
	if err := s.show(state); err != nil {
		t.Fatal(err)
	}
}
