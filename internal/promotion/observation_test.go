package promotion_test

import (
	"maps"
	"testing"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/promotion/promotiontest"
)

const followedConfig = promotiontest.Components + `
  team: {image: "quay.io/acme/team-*", select: {newest: '^v'}}
  late: {image: quay.io/acme/late, select: {semver: "*"}, only: {environments: [prod]}}
environments:
  dev: {paths: ["dev/{application}"]}
  prod: {paths: ["prod/{application}"], after: [dev]}
`

// TestFollowedIn covers each component once, by the name that it has in the files.
func TestFollowedIn(t *testing.T) {
	t.Parallel()
	c, problems := config.Load(config.FolderEnvironment, []byte(followedConfig))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	refers := func(names ...string) promotion.Current {
		var present promotion.Current
		for _, name := range names {
			present.References = append(present.References, edit.Reference{Component: name, Repository: promotiontest.Repository(name)})
		}
		return present
	}
	targets := map[promotion.Target]promotion.Current{
		{Environment: "dev", Application: "shop"}:  refers("worker", "web", "worker", "late", "other"),
		{Environment: "dev", Application: "blog"}:  refers("web", "team-blog"),
		{Environment: "prod", Application: "shop"}: refers("late", "web"),
	}
	for environment, want := range map[string][]string{
		"":     {"late is late", "team-blog is team", "web is web", "worker is worker"},
		"dev":  {"team-blog is team", "web is web", "worker is worker"},
		"prod": {"late is late", "web is web"},
		"none": nil,
	} {
		var got []string
		for _, f := range promotion.FollowedIn(c, maps.All(targets), func(p promotion.Target) bool { return environment == "" || p.Environment == environment }) {
			got = append(got, f.Name+" is "+f.Component.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in %q (-want +got):\n%s", environment, diff)
		}
	}
	policies := promotion.Policies(c, promotion.FollowedIn(c, maps.All(targets), promotion.Everywhere))
	if len(policies) != 4 || policies["team-blog"] != c.Policy("team") || policies["late"] == nil {
		t.Errorf("policies: %v", policies)
	}
}
