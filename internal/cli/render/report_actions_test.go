package render

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"promoter/internal/app"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
)

// The line of a target shows its last action. Its state follows only if that adds
// something: never that it is up to date, above or below what was just done.
func TestRunText_actionAndStateDoNotContradict(t *testing.T) {
	t.Parallel()
	proposed := decided("dev/blog", promotion.Proposed, "newer: blog 1 -> 2")
	pushed := did(proposed, outcome.ActionPushed, propose.StepPush)
	pushed.Commit = "9abc123456"
	failed := did(decided("dev/blog", promotion.Proposed, "newer: blog 2 -> 3"), outcome.ActionNone, propose.StepPush)
	failed.Err = errors.New("no space left on device")
	for _, test := range []struct {
		name    string
		state   promotion.Decision
		effects []outcome.Effect
		want    string
	}{
		{"done", decided("dev/blog", promotion.Same, "already up to date"), []outcome.Effect{pushed}, "  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n"},
		{
			"waits for more", decided("dev/blog", promotion.Waiting, "blog: 3 is too new"),
			[]outcome.Effect{pushed},
			"  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n  dev/blog  waiting  blog: 3 is too new\n",
		},
		{
			"failed afterwards", decided("dev/blog", promotion.Proposed, "newer: blog 2 -> 3"),
			[]outcome.Effect{pushed, failed},
			"  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n  dev/blog  proposed  newer: blog 2 -> 3\n    failed to be pushed: no space left on device\n",
		},
		{"nothing done", decided("dev/blog", promotion.Same, "already up to date"), nil, "  dev/blog  same  already up to date\n"},
	} {
		reported := outcome.Report{Decisions: []promotion.Decision{test.state}, Effects: test.effects}
		text := Report{}.Results([]app.Result{{Repository: "acme/gitops", Report: reported}})
		if _, lines, _ := strings.Cut(text, "\n"); lines != test.want {
			t.Errorf("%s: printed\n%swant\n%s", test.name, lines, test.want)
		}
	}
}

// What a run does is printed when it happens, under the name of its repository, and the
// results do not repeat it.
func TestRunPrinter_printsActionsAsTheyHappen(t *testing.T) {
	t.Parallel()
	pushed := did(decided("dev/blog", promotion.Proposed, "newer: blog 1 -> 2"), outcome.ActionPushed, propose.StepPush)
	pushed.Commit = "9abc123456"
	waits := decided("prod/blog", promotion.Waiting, "dev soak")
	results := []app.Result{
		{Repository: "acme/one", Report: outcome.Report{
			Decisions: []promotion.Decision{decided("dev/blog", promotion.Same, "already up to date"), waits}, Effects: []outcome.Effect{pushed},
		}},
		{Repository: "acme/two", Unfinished: true, Report: outcome.Report{Effects: []outcome.Effect{pushed}}},
	}
	for _, test := range []struct{ output, out, err, end string }{
		{
			output: "text", out: "acme/one\n  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n",
			end: "acme/one\n  dev/blog  pushed  9abc123  newer: blog 1 -> 2\nacme/two\n  dev/blog  pushed  9abc123  newer: blog 1 -> 2\nacme/one\n  prod/blog  waiting  dev soak\n",
		},
		{output: "json", err: "promoter: acme/one: dev/blog  pushed  9abc123  newer: blog 1 -> 2\n"},
	} {
		var out, messages bytes.Buffer
		printer := NewRun(&out, &messages, test.output, Report{}, func(show func()) { show() })
		printer.Acted("acme/one", []outcome.Effect{pushed})
		if out.String() != test.out || messages.String() != test.err {
			t.Errorf("%s: printed at once\n%s%s", test.output, out.String(), messages.String())
		}
		printer.Acted("acme/two", []outcome.Effect{pushed})
		if err := printer.Results(results); err != nil {
			t.Error(err)
		}
		if test.end != "" && out.String() != test.end {
			t.Errorf("%s: printed\n%swant\n%s", test.output, out.String(), test.end)
		}
		if test.end == "" && !strings.Contains(out.String(), `"action": "pushed"`) {
			t.Errorf("the JSON lacks the action:\n%s", out.String())
		}
	}
}

// An offered config file is printed when its pull request is opened, and once.
func TestRunPrinter_onboarding(t *testing.T) {
	t.Parallel()
	offered := onboarding.Result{State: onboarding.Opened, Number: 3, URL: "https://github.com/acme/new/pull/3"}
	const line = "onboarding pull request #3 https://github.com/acme/new/pull/3 opened\n"
	for output, want := range map[string][2]string{"text": {"acme/new\n  " + line, ""}, "json": {"", "promoter: acme/new: " + line}} {
		var out, messages bytes.Buffer
		printer := NewRun(&out, &messages, output, Report{}, func(show func()) { show() })
		printer.Offered("acme/new", offered)
		if got := [2]string{out.String(), messages.String()}; got != want {
			t.Errorf("%s: printed %q", output, got)
		}
		err := printer.Results([]app.Result{{Repository: "acme/new", Onboarding: &offered}})
		if err != nil || output == "text" && out.String() != want[0] {
			t.Errorf("%s: printed %q, %v", output, out.String(), err)
		}
	}
}

// The output may be closed before the run ends.
func TestRunPrinter_closedOutput(t *testing.T) {
	t.Parallel()
	printer := NewRun(closedWriter{}, &bytes.Buffer{}, "text", Report{}, func(show func()) { show() })
	printer.Acted("acme/one", []outcome.Effect{did(decided("dev/blog", promotion.Proposed, "x"), outcome.ActionPushed, propose.StepPush)})
	if err := printer.Results(nil); err == nil {
		t.Error("the error of the output is lost")
	}
}

// closedWriter is an output that is closed.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
