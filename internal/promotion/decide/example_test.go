package decide_test

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
)

// A newer version is available for the first environment, and the second follows
// the first.
func ExamplePlan() {
	c, problems := config.Load(config.FolderEnvironment, []byte(`
version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: [dev]}
`))
	if err := problems.Err(); err != nil {
		fmt.Println(err)
		return
	}
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		fmt.Println(err)
		return
	}
	files := func(tag string) promotion.Current {
		return promotion.Current{References: []edit.Reference{{Component: "web", Repository: repository, Tag: tag}}}
	}
	observation := promotion.Observation{
		Config: c,
		Targets: map[promotion.Target]promotion.Current{
			{Environment: "dev", Application: config.DefaultApplication}:  files("1.4.0"),
			{Environment: "prod", Application: config.DefaultApplication}: files("1.3.0"),
		},
		Available: map[string]promotion.Available{"web": {Version: image.Version{Tag: "1.5.0"}, Found: true}},
		Policies:  map[string]*image.Policy{"web": c.Policy("web")},
		Checkout:  true,
	}
	decisions, err := decide.Plan(context.Background(), observation, time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range decisions {
		fmt.Printf("%s %s: %s\n", d.Environment, d.State, d.Reason)
	}
	// Output:
	// dev proposed: newer: web 1.4.0 -> 1.5.0
	// prod proposed: dev has: web 1.3.0 -> 1.4.0
}
