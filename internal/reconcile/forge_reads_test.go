package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

// eachAlone proposes each application in a pull request of its own.
const eachAlone = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  staging: {paths: ["staging/{application}.txt"], gates: {approvals: {count: 1}}}
`

// alone is a world with ten applications.
func alone(t *testing.T) *world {
	t.Helper()
	all := map[string]string{}
	for i := range 10 {
		all[fmt.Sprintf("staging/app-%d.txt", i)] = web + ":1.0.0@" + reconciletest.Digest("web 1.0.0") + "\n"
	}
	w := &world{World: reconciletest.New(eachAlone, all), t: t}
	w.push(web, "1.0.0")
	w.push(web, "1.1.0")
	return w
}

// The forge is read side by side, with the results and the errors of reads one after the other.
func TestReconcile_readsSideBySide(t *testing.T) {
	t.Parallel()
	var reports []string
	for _, reads := range []int{0, 4} {
		w := alone(t)
		reconcile := func() outcome.Report {
			r := w.Reconciler()
			r.ForgeReads = reads
			report, err := r.Reconcile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return report
		}
		reconcile()
		w.Forge.Review(2, "ann", scm.Approved)
		w.Clock.Add(time.Hour)
		w.Forge.Fail = func(call string) error {
			if call == "reviews" {
				return fault.New(fault.Invalid, "no reviews today")
			}
			return nil
		}
		var text strings.Builder
		for _, effect := range reconcile().Effects {
			fmt.Fprintf(&text, "%s: %v\n", effect.Head, effect.Err)
		}
		w.Forge.Fail = nil
		for _, d := range reconcile().Decisions {
			fmt.Fprintf(&text, "%s %s\n", d.Name(), d.Reason.Message)
		}
		reports = append(reports, text.String())
	}
	if strings.Count(reports[0], "no reviews today") < 10 {
		t.Errorf("the errors are:\n%s", reports[0])
	}
	if diff := cmp.Diff(reports[0], reports[1]); diff != "" {
		t.Errorf("one after the other, and side by side (-, +):\n%s", diff)
	}
}

// At least two reads are under way at the same time: each of the first two waits for the other.
func TestReconcile_readsAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.run()
	calls := make(chan struct{}, 1)
	met := make(chan struct{})
	w.Forge.Fail = func(call string) error {
		if call != "checks" {
			return nil
		}
		select {
		case calls <- struct{}{}: // the first one
			select {
			case <-met:
			case <-t.Context().Done():
			}
		default:
			select {
			case <-met:
			default:
				close(met)
			}
		}
		return nil
	}
	r := w.Reconciler()
	r.ForgeReads = 2
	if _, err := r.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}

// Progress counts the pull requests that are done.
func TestReconcile_progressOfPullRequests(t *testing.T) {
	t.Parallel()
	w := alone(t)
	var shown []string
	r := w.Reconciler()
	r.Progress = func(doing string, done, total int) {
		if !strings.Contains(doing, "registries") {
			shown = append(shown, fmt.Sprintf("%s %d/%d", doing, done, total))
		}
	}
	if _, err := r.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(shown) < 10 || shown[0] != "updating pull requests 1/10" || shown[9] != "updating pull requests 10/10" {
		t.Errorf("shown was %q", shown)
	}
}
