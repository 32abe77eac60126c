package promotion_test

import (
	"fmt"
	"testing"

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

func largeWorld(b *testing.B) promotion.Observed {
	b.Helper()
	text := "version: 1\ncomponents:\n  all: {image: quay.io/acme/**, select: {semver: '>=1'}}\nenvironments:\n"
	for i := range 5 {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(", after: [env%d]", i-1)
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
