package pullrequest_test

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
)

// One decision becomes one proposal: a pull request to open.
func ExamplePlan() {
	c, problems := config.Load(config.FolderEnvironment, []byte(`
version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}"]}
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
	observation := promotion.Observation{
		Config: c,
		Targets: map[promotion.Target]promotion.Current{
			{Environment: "dev", Application: "shop"}: {References: []edit.Reference{{Component: "web", Repository: repository, Tag: "1.4.0"}}},
		},
		Available: map[string]promotion.Available{"web": {Version: image.Version{Tag: "1.5.0"}, Found: true}},
		Policies:  map[string]*image.Policy{"web": c.Policy("web")},
	}
	now := time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	decisions, err := decide.Plan(context.Background(), observation, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range propose.Plan(observation, decisions, now) {
		fmt.Println(p.Step, p.Head)
		fmt.Println(pullrequest.Title(pullrequest.Page{Proposal: p}))
	}
	// Output:
	// propose promoter/dev/shop
	// Promote shop to dev: web 1.5.0
}
