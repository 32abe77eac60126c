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
	observation := largeWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		if got := promotion.Plan(observation, noon); len(got) != 10_000 {
			b.Fatalf("%d decisions", len(got))
		}
	}
}

// BenchmarkPlan_lanes decides about as many places, each with three landings. Of
// half of the applications the newest one soaked, of the others a child looks back.
func BenchmarkPlan_lanes(b *testing.B) {
	observation := largeWorld(b)
	observation.Checkout = false
	observation.Landings = map[promotion.Target][]promotion.Landing{}
	for target, present := range observation.Targets {
		component, tag, soaked := target.Application, present.References[0].Tag, time.Hour
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
			observation.Landings[target] = append(observation.Landings[target], landing)
			fact := promotion.Fact{Repository: pinned.Repository, Tag: version}
			observation.Facts[fact] = image.Version{Digest: pinned.Version.Digest}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := promotion.Plan(observation, noon); len(got) != 10_000 || got[9_998].State != promotion.Proposed || got[9_999].State != promotion.Waiting {
			b.Fatalf("%d decisions, the last ones %+v", len(got), got[9_998:])
		}
	}
}

func largeWorld(b *testing.B) promotion.Observation {
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
	observation := promotion.Observation{
		Config: loaded, Checkout: true,
		Targets:   map[promotion.Target]promotion.Current{},
		Available: map[string]promotion.Available{},
		Policies:  map[string]*image.Policy{},
		Facts:     promotion.Facts{},
	}
	for app := range 2000 {
		component := fmt.Sprintf("app-%04d", app)
		observation.Available[component] = promotion.Available{Version: version("1.5.0@" + digestB), Found: true}
		observation.Policies[component] = loaded.Policy("all")
		for env := range 5 {
			target := promotion.Target{Environment: fmt.Sprintf("env%d", env), Application: component}
			observation.Targets[target] = promotion.Current{References: []edit.Reference{
				{Component: component, Repository: repository(component), Tag: fmt.Sprintf("1.%d.0", 4-env)},
				{Component: component, Repository: repository(component), Tag: fmt.Sprintf("1.%d.0", 4-env)},
			}}
		}
	}
	return observation
}
