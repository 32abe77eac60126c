package cli

import (
	"errors"
	"strings"
	"testing"

	"promoter/internal/app"
	"promoter/internal/engine"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
)

// The line of a target shows its last action. Its state follows only if that adds
// something: never that it is up to date, above or below what was just done.
func TestRunText_actionAndStateDoNotContradict(t *testing.T) {
	t.Parallel()
	proposed := decided("dev/blog", promotion.Proposed, "newer: blog 1 -> 2")
	pushed := did(proposed, engine.ActionPushed, pullrequest.StepPush)
	pushed.Commit = "9abc123456"
	failed := did(decided("dev/blog", promotion.Proposed, "newer: blog 2 -> 3"), engine.ActionNone, pullrequest.StepPush)
	failed.Err = errors.New("no space left on device")
	for _, test := range []struct {
		name    string
		state   promotion.Decision
		effects []engine.Effect
		want    string
	}{
		{"done", decided("dev/blog", promotion.Same, "already up to date"), []engine.Effect{pushed}, "  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n"},
		{
			"waits for more", decided("dev/blog", promotion.Waiting, "blog: 3 is too new"),
			[]engine.Effect{pushed},
			"  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n  dev/blog  waiting  blog: 3 is too new\n",
		},
		{
			"failed afterwards", decided("dev/blog", promotion.Proposed, "newer: blog 2 -> 3"),
			[]engine.Effect{pushed, failed},
			"  dev/blog  pushed  9abc123  newer: blog 1 -> 2\n  dev/blog  proposed  newer: blog 2 -> 3\n    failed to be pushed: no space left on device\n",
		},
		{"nothing done", decided("dev/blog", promotion.Same, "already up to date"), nil, "  dev/blog  same  already up to date\n"},
	} {
		report := engine.Report{Decisions: []promotion.Decision{test.state}, Effects: test.effects}
		text := reportRenderer{}.results([]app.Result{{Repository: "acme/gitops", Report: report}})
		if _, lines, _ := strings.Cut(text, "\n"); lines != test.want {
			t.Errorf("%s: printed\n%swant\n%s", test.name, lines, test.want)
		}
	}
}
