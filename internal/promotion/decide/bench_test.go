package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

// BenchmarkPlan decides about 2,000 applications in 5 environments, each with a
// component of its own that has a newer version.
func BenchmarkPlan(b *testing.B) {
	observation := decidetest.LargeObservation(b)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := decide.Plan(b.Context(), observation, promotiontest.Noon); err != nil || len(got) != 10_000 {
			b.Fatalf("%d decisions", len(got))
		}
	}
}

// BenchmarkPlan_withForge decides about as many targets, each with three landings. For half
// of the applications the newest landing has soaked; for the others, an older one is used.
func BenchmarkPlan_withForge(b *testing.B) {
	observation := decidetest.LargeObservation(b)
	observation.Checkout = false
	observation.Landings = map[promotion.Target][]promotion.Landing{}
	for target, present := range observation.Targets {
		component, tag, soaked := target.Application, present.References[0].Tag, time.Hour
		if component[len(component)-1]%2 == 1 {
			soaked = 10 * time.Minute
		}
		for i, version := range []string{tag, "1.0.1", "1.0.0"} {
			pinned := promotion.Pinned{Repository: promotiontest.Repository(component), Version: image.Version{Tag: version, Digest: promotiontest.Digest(version[2:3])}}
			landing := promotion.Landing{
				Commit: "c0ffee", Snapshot: promotion.Snapshot{component: pinned}, At: promotiontest.Ago(soaked + time.Duration(i)*time.Hour),
			}
			if i > 0 {
				landing.Until = promotiontest.Ago(soaked + time.Duration(i-1)*time.Hour)
			}
			observation.Landings[target] = append(observation.Landings[target], landing)
			fact := promotion.Fact{Repository: pinned.Repository, Tag: version}
			observation.Facts[fact] = image.Version{Digest: pinned.Version.Digest}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := decide.Plan(b.Context(), observation, promotiontest.Noon); err != nil || len(got) != 10_000 || got[9_998].State != promotion.Proposed || got[9_999].State != promotion.Waiting {
			b.Fatalf("%d decisions, the last ones %+v", len(got), got[9_998:])
		}
	}
}
