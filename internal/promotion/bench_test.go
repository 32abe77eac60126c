package promotion_test

import (
	"fmt"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// BenchmarkPlan decides about 2,000 applications in 5 environments, each with a
// component of its own that has a newer version.
func BenchmarkPlan(b *testing.B) {
	observed := largeWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		if got := promotion.Plan(observed, noon); len(got) != 10_000 {
			b.Fatalf("%d decisions", len(got))
		}
	}
}

// BenchmarkPlan_lanes decides about as many places, each with three landings. Of
// half of the applications the newest one soaked, of the others a child looks back.
func BenchmarkPlan_lanes(b *testing.B) {
	observed := largeWorld(b)
	observed.Checkout = false
	observed.Landings = map[promotion.Place][]promotion.Landing{}
	for place, present := range observed.Places {
		component, tag, soaked := place.Application, present.References[0].Tag, time.Hour
		if component[len(component)-1]%2 == 1 {
			soaked = 10 * time.Minute
		}
		for i, version := range []string{tag, "1.0.1", "1.0.0"} {
			pinned := promotion.Pinned{Repository: repository(component), Version: image.Version{Tag: version, Digest: sha(version[2:3])}}
			landing := promotion.Landing{
				Commit: "c0ffee", Snapshot: promotion.Snapshot{component: pinned}, At: ago(soaked + time.Duration(i)*time.Hour),
			}
			if i > 0 {
				landing.Until = ago(soaked + time.Duration(i-1)*time.Hour)
			}
			observed.Landings[place] = append(observed.Landings[place], landing)
			fact := promotion.Fact{Repository: pinned.Repository, Tag: version}
			observed.Facts[fact] = image.Version{Digest: pinned.Version.Digest}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := promotion.Plan(observed, noon); len(got) != 10_000 || got[9_998].State != promotion.Proposed || got[9_999].State != promotion.Waiting {
			b.Fatalf("%d decisions, the last ones %+v", len(got), got[9_998:])
		}
	}
}

func largeWorld(b *testing.B) promotion.Observed {
	b.Helper()
	text := "version: 1\ncomponents:\n  all: {image: quay.io/acme/**, select: {semver: '>=1'}}\nenvironments:\n"
	for i := range 5 {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(", after: {env%d: {soak: 30m}}", i-1)
		}
		text += fmt.Sprintf("  env%d: {paths: ['env%d/{application}']%s}\n", i, i, after)
	}
	loaded, problems := config.Load("bench", []byte(text))
	if err := problems.Err(); err != nil {
		b.Fatal(err)
	}
	observed := promotion.Observed{
		Config: loaded, Checkout: true,
		Places:   map[promotion.Place]promotion.Present{},
		Offers:   map[string]promotion.Offer{},
		Policies: map[string]*image.Policy{},
		Facts:    promotion.Facts{},
	}
	for app := range 2000 {
		component := fmt.Sprintf("app-%04d", app)
		observed.Offers[component] = promotion.Offer{Version: version("1.5.0@" + digestB), Found: true}
		observed.Policies[component] = loaded.Policy("all")
		for env := range 5 {
			place := promotion.Place{Environment: fmt.Sprintf("env%d", env), Application: component}
			observed.Places[place] = promotion.Present{References: []edit.Reference{
				{Component: component, Repository: repository(component), Tag: fmt.Sprintf("1.%d.0", 4-env)},
				{Component: component, Repository: repository(component), Tag: fmt.Sprintf("1.%d.0", 4-env)},
			}}
		}
	}
	return observed
}
