package onboarding

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/identity"
)

func TestOutcomes_validity(t *testing.T) {
	t.Parallel()
	const key, other = identity.RepositoryKey("github.com/1"), identity.RepositoryKey("github.com/2")
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		result      Result
		isCandidate bool
		later       time.Duration
		version     string
		known       bool
	}{
		"open, unchanged":                   {Result{State: Open, Number: 3}, false, time.Hour, "v1", true},
		"open, changed":                     {Result{State: Open}, false, 0, "v2", false},
		"declined, changed":                 {Result{State: Declined}, false, 1000 * time.Hour, "v2", true},
		"left alone for a while":            {Result{State: LeftAlone}, false, 59 * time.Minute, "v1", true},
		"left alone, some time ago":         {Result{State: LeftAlone}, false, time.Hour, "v1", false},
		"nothing found, changed soon":       {Result{State: NothingFound}, true, 5 * time.Hour, "v2", true},
		"nothing found, changed later":      {Result{State: NothingFound}, true, 6 * time.Hour, "v2", false},
		"nothing found in a listed one":     {Result{State: NothingFound}, false, 0, "v2", false},
		"opened now, to be read next time":  {Result{State: Opened}, false, 0, "v1", false},
		"waiting, to be offered next time":  {Result{State: Waiting}, false, 0, "v1", false},
		"declined, and not read for months": {Result{State: Declined}, false, 91 * 24 * time.Hour, "v1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, now := t.TempDir(), begin
			o := readOutcomes(folder, func() time.Time { return now })
			o.record(key, "v1", test.result, test.isCandidate)
			if err := o.save(); err != nil {
				t.Fatal(err)
			}
			now = begin.Add(test.later)
			got := readOutcomes(folder, func() time.Time { return now }).find(key, test.version)
			if (got != nil) != test.known || got != nil && (got.State != test.result.State || got.Number != test.result.Number || !got.Known) {
				t.Errorf("got %+v", got)
			}
			if o.find(other, "v1") != nil {
				t.Error("another repository is known")
			}
		})
	}
}

func TestOutcomes_brokenFileCountsAsEmpty(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "outcomes.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := readOutcomes(folder, time.Now); len(o.known) != 0 || !o.persistent() {
		t.Errorf("got %+v", o.known)
	}
}
