package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// Whatever stood in the parents and whatever people said: what is proposed to a
// child stood before it as a whole, leads forward, soaked where that is asked, and
// is nothing that people do not want.
func TestPlan_invariantsOfRandomHistories(t *testing.T) {
	t.Parallel()
	proposed, c := 0, promotiontest.Load(t, decidetest.Soaking)
	for seed := range uint64(3000) {
		w := anyHistory(t, c, rand.New(rand.NewPCG(seed, 1)))
		for _, target := range []string{"staging/shop", "prod/shop"} {
			if d := w.Decide(target); d.State == promotion.Proposed {
				proposed++
				keepsPromises(w, t, seed, target, d)
			}
		}
		if t.Failed() {
			return
		}
	}
	if proposed < 500 {
		t.Errorf("only %d were proposed", proposed)
	}
}

// anyHistory is a chain in which anything stood.
func anyHistory(t *testing.T, c *config.Config, random *rand.Rand) *decidetest.Scenario {
	t.Helper()
	w := decidetest.Of(t, c)
	pick := func() []string {
		var texts []string
		for _, component := range []string{"web", "worker"} {
			n := 1 + random.IntN(4)
			texts = append(texts, fmt.Sprintf("%s:1.%d.0@%s", component, n, promotiontest.Digest(fmt.Sprint(n))))
		}
		return texts
	}
	for _, target := range []string{"dev/shop", "staging/shop", "prod/shop"} {
		at := promotiontest.Ago(time.Duration(random.IntN(120)) * time.Minute)
		w.Stands(target, at, pick()...)
		for range random.IntN(4) {
			until := at
			at = at.Add(-time.Duration(random.IntN(120)) * time.Minute)
			w.Landed(target, at, until, pick()...).Reverted = random.IntN(4) == 0
		}
		if random.IntN(3) == 0 {
			w.Decides(state.Reject(w.StateTarget(target), state.Rejection{Act: promotiontest.ByAda(""), Images: promotiontest.Images(pick()[random.IntN(2)])}))
		}
		if random.IntN(8) == 0 {
			w.Decides(state.Hold(w.StateTarget(target), promotiontest.ByAda("")))
		}
	}
	return w
}

func keepsPromises(w *decidetest.Scenario, t *testing.T, seed uint64, target string, d promotion.Decision) {
	t.Helper()
	at := w.Target(target)
	if w.State.At(w.StateTarget(target)).Hold != nil {
		t.Errorf("seed %d: %s is held and proposed", seed, target)
	}
	for _, move := range d.Moves {
		if move.To.Tag < move.From.Tag {
			t.Errorf("seed %d: %s goes back: %s", seed, target, move)
		}
		if _, rejected := w.State.Rejected(w.StateTarget(target), promotiontest.Repository(move.Component), move.To); rejected {
			t.Errorf("seed %d: %s takes what was rejected: %s", seed, target, move)
		}
	}
	parent := promotion.Target{Environment: map[string]string{"staging": "dev", "prod": "staging"}[at.Environment], Application: at.Application}
	same := func(l promotion.Landing) bool {
		for component, pinned := range d.Snapshot {
			if !promotion.SameRollout(pinned.Version, l.Snapshot[component].Version) {
				return false
			}
		}
		return true
	}
	landings := w.Landings[parent]
	i := slices.IndexFunc(landings, same)
	if i < 0 {
		t.Fatalf("seed %d: %s takes what never stood in %s: %s", seed, target, parent.Environment, d.Snapshot)
	}
	if at.Environment == "staging" && !soakedHour(landings, i, same) {
		t.Errorf("seed %d: %s takes what did not soak: %s", seed, target, d.Snapshot)
	}
	if landings[i].Reverted && i > 0 {
		t.Errorf("seed %d: %s takes what was taken back: %s", seed, target, d.Snapshot)
	}
}

// soakedHour reports whether the newest landings with the same snapshot have been present
// for an hour.
func soakedHour(landings []promotion.Landing, i int, same func(promotion.Landing) bool) bool {
	until := landings[i].Until
	if until.IsZero() {
		until = promotiontest.Noon
	}
	since := landings[i].At
	for _, l := range landings[i:] {
		if !same(l) {
			break
		}
		since = l.At
	}
	return until.Sub(since) >= time.Hour
}
