package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/landing"
)

// landedLines formats landings as "environment web's tag attempt".
func landedLines(all []landing.Landed) []string {
	var lines []string
	for _, l := range all {
		attempt := l.Promotion[strings.LastIndex(l.Promotion, "/")+1:]
		line := l.Environment + " " + l.Snapshot["web"].Version.Tag + " " + attempt
		for _, move := range l.Moves {
			line += ", " + move.String()
		}
		if !l.Ours {
			line += " by a person"
		}
		lines = append(lines, line)
	}
	return lines
}

// A landing is reported once, whatever its author: nothing is reported after the known head.
func TestLanded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	first := w.run()
	landed, err := w.Reconciler().Landed(t.Context(), first, nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"dev 1.1.0 1, web 1.0.0 -> 1.1.0"}, landedLines(landed)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(first.UserDecisions) == 0 || first.Default == "" {
		t.Errorf("the report tells no end: %+v", first)
	}
	again, err := w.Reconciler().Landed(t.Context(), w.run(), first.Heads, time.Time{})
	if err != nil || len(again) != 0 {
		t.Errorf("told again: %v, %v", landedLines(again), err)
	}
	w.push(web, "1.2.0")
	second := w.run()
	fresh, err := w.Reconciler().Landed(t.Context(), second, first.Heads, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"dev 1.2.0 1, web 1.1.0 -> 1.2.0"}, landedLines(fresh)); diff != "" {
		t.Errorf("since then (-want +got):\n%s", diff)
	}
	late, err := w.Reconciler().Landed(t.Context(), second, nil, w.Clock.Now().Add(time.Hour))
	if err != nil || len(late) != 0 {
		t.Errorf("after the time: %v, %v", landedLines(late), err)
	}
	report, recalled, err := w.Reconciler().HistoryFromGit(t.Context(), w.Clock.Now().Add(-24*time.Hour))
	if err != nil || report.Unusable != "" {
		t.Fatalf("%v, %s", err, report.Unusable)
	}
	if diff := cmp.Diff([]string{"dev 1.2.0 1, web 1.1.0 -> 1.2.0", "dev 1.1.0 1, web 1.0.0 -> 1.1.0"}, landedLines(recalled)); diff != "" {
		t.Errorf("without a database (-want +got):\n%s", diff)
	}
}
