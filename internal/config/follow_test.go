package config_test

import (
	"testing"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/image"
)

func repository(t *testing.T, s string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const followed = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: "1"}}
  nginx: {image: nginx, select: {semver: "1"}}
  next: {image: quay.io/acme/api, select: {semver: "2"}, only: {environments: [dev]}}
  stable: {image: quay.io/acme/api, select: {semver: "1"}, only: {environments: [prod]}}
  team: {image: "quay.io/**", select: {newest: main}, only: {applications: ["team-*"]}}
  tools: {image: quay.io/acme/tools, select: {semver: "1"}}
applications:
  team-web: {components: [web, team]}
environments:
  dev: {paths: ["dev/{application}"]}
  prod: {paths: ["prod/{application}"]}
`

func TestConfig_Follow(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, followed)
	for _, test := range []struct {
		what, environment, application, repository string
		component, name                            string
	}{
		{"an exact name", "dev", "shop", "quay.io/acme/web", "web", "web"},
		{"another spelling of Docker Hub", "dev", "shop", "index.docker.io/library/nginx", "nginx", "nginx"},
		{"a repository that begins alike", "dev", "shop", "quay.io/acme/web-extra", "", ""},
		{"only in dev", "dev", "shop", "quay.io/acme/api", "next", "next"},
		{"only in prod", "prod", "shop", "quay.io/acme/api", "stable", "stable"},
		{"a pattern for other applications", "dev", "shop", "quay.io/x/y", "", ""},
		{"a pattern names the component by its path", "dev", "team-a", "quay.io/x/y", "team", "x-y-665a6b"},
		{"a path that is a name", "dev", "team-a", "quay.io/single", "team", "single"},
		{"a path that another component has as its name", "dev", "team-a", "quay.io/web", "team", "web-966871"},
		{"an exact name beats a pattern", "dev", "team-a", "quay.io/acme/web", "web", "web"},
		{"a member of the application", "dev", "team-web", "quay.io/acme/web", "web", "web"},
		{"no member, but the pattern is", "dev", "team-web", "quay.io/acme/tools", "team", "acme-tools-6a3666"},
		{"no member", "dev", "team-web", "nginx", "", ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			got, ok := c.Follow(test.environment, test.application, repository(t, test.repository))
			want := config.Match{Component: test.component, Name: test.name}
			if got != want || ok != (test.component != "") {
				t.Errorf("Follow = %+v, %t; want %+v", got, ok, want)
			}
			if ok && !field.ValidName(got.Name) {
				t.Errorf("%q is no name", got.Name)
			}
		})
	}
}

// TestConfig_Follow_registries tells one path in two registries apart.
func TestConfig_Follow_registries(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `version: 1
components:
  a: {image: "a.example.com/*", select: {newest: main}}
  b: {image: "b.example.com/*", select: {newest: main}}
environments:
  dev: {}
`)
	a, _ := c.Follow("dev", config.DefaultApplication, repository(t, "a.example.com/web"))
	b, _ := c.Follow("dev", config.DefaultApplication, repository(t, "b.example.com/web"))
	if a.Component != "a" || b.Component != "b" || a.Name == b.Name {
		t.Errorf("Follow = %+v and %+v; want two names", a, b)
	}
}

func TestConfig_Policy(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, followed)
	if got := c.Policy("web"); got == nil || len(got.Candidates([]string{"1.2.0", "2.0.0"}).Ordered) != 1 {
		t.Errorf("Policy(web) = %v; want the range 1", got)
	}
	if got := c.Policy("nothing"); got != nil {
		t.Errorf("Policy(nothing) = %v", got)
	}
	if _, ok := c.Component("web"); !ok {
		t.Error("Component(web) is not found")
	}
	if _, ok := c.Component("nothing"); ok {
		t.Error("Component(nothing) is found")
	}
}

func BenchmarkConfig_Follow(b *testing.B) {
	c := mustLoad(b, followed)
	r, err := image.ParseRepository("quay.io/other/thing")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Follow("dev", "team-a", r)
	}
}

// A component with {application} is another repository in each application. The name of an
// application is made from what the paths capture, which the repository has as it is.
func TestConfig_Follow_repositoryOfTheApplication(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `version: 1
components:
  app: {image: "acme/{application}-server", select: {semver: "1"}}
environments:
  dev: {paths: ["dev/{application}"]}
`)
	app, _ := c.Component("app")
	for _, test := range []struct {
		application, repository string
		want                    bool
	}{
		{"shop", "docker.io/acme/shop-server", true},
		{"shop", "docker.io/acme/pay-server", false},
		{"shop", "docker.io/acme/a/shop-server", false},
		{"shop", "docker.io/acme/shop", false},
		{"big-shop-1e191f", "docker.io/acme/big_shop-server", true},
	} {
		_, followed := c.Follow("dev", test.application, repository(t, test.repository))
		if followed != test.want {
			t.Errorf("%s in %s: %t", test.repository, test.application, followed)
		}
	}
	if got, one := app.RepositoryIn("big_shop"); !one || got != repository(t, "docker.io/acme/big_shop-server") {
		t.Errorf("the repository is %s, %t", got, one)
	}
	if got, one := app.RepositoryIn("Shop"); one {
		t.Errorf("the repository is %s", got)
	}
}
