package suggest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/suggest"
)

// found makes a tree of lines "FILE" or "FILE REFERENCE…"; the references stand
// under a key image.
func found(t testing.TB, lines ...string) suggest.Found {
	t.Helper()
	var out suggest.Found
	for _, line := range lines {
		fields := strings.Fields(line)
		out.Files = append(out.Files, fields[0])
		for i, text := range fields[1:] {
			parsed, err := image.Parse(text)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			out.References = append(out.References, edit.Reference{
				Component: parsed.Repository.String(), Shape: "reference", Key: "image",
				Position:   edit.Position{File: fields[0], Line: i + 1, Column: 8},
				Repository: parsed.Repository, Tag: parsed.Tag, Digest: parsed.Digest,
			})
		}
	}
	return out
}

func suggestion(t testing.TB, f suggest.Found) *suggest.Suggestion {
	t.Helper()
	s, err := suggest.Config(f)
	if err != nil {
		t.Fatal(err)
	}
	loads(t, s.Text)
	return s
}

func loads(t testing.TB, text string) *config.Config {
	t.Helper()
	loaded, problems := config.Load(".promoter.yaml", []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return loaded
}

// environments writes each environment as NAME [paths] after parents.
func environments(s *suggest.Suggestion) []string {
	var out []string
	for _, e := range s.Environments {
		line := e.Name
		for _, p := range e.Paths {
			line += " " + p
		}
		if len(e.After) > 0 {
			line += " <- " + strings.Join(e.After, " ")
		}
		out = append(out, line)
	}
	return out
}

func TestConfig_environments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		tree         []string
		want         []string
		applications []string
	}{
		{
			"kustomize overlays per application",
			[]string{
				"apps/web/base/deployment.yaml", "apps/web/overlays/dev/kustomization.yaml a.io/x/web:1.2.0",
				"apps/web/overlays/prod/kustomization.yaml a.io/x/web:1.1.0", "apps/api/overlays/dev/kustomization.yaml a.io/x/api:1.2.0",
			},
			[]string{"dev apps/{application}/overlays/dev", "prod apps/{application}/overlays/prod <- dev"},
			[]string{"api", "web"},
		},
		{
			"a folder that a path with * matches too",
			[]string{
				"helmfile.d/services/web/v.yaml a.io/x/web:1.2.0", "helmfile.d/services/api/v.yaml a.io/x/api:1.2.0",
				"helmfile.d/admin/mail/v.yaml a.io/x/mail:1.2.0", "helmfile.d/other/auth/v.yaml a.io/x/auth:1.2.0",
			},
			[]string{"main helmfile.d/*/{application}"},
			[]string{"api", "auth", "mail", "web"},
		},
		{
			"one application in a folder of many to come",
			[]string{"apps/web/overlays/dev/k.yaml a.io/x/web:1.2.0", "apps/web/overlays/prod/k.yaml a.io/x/web:1.1.0"},
			[]string{"dev apps/{application}/overlays/dev", "prod apps/{application}/overlays/prod <- dev"},
			[]string{"web"},
		},
		{
			"one application alone",
			[]string{"overlays/dev/k.yaml a.io/x/web:1.2.0", "overlays/production/k.yaml a.io/x/web:1.1.0"},
			[]string{"dev overlays/dev", "production overlays/production <- dev"},
			nil,
		},
		{
			"environment before application",
			[]string{
				"dev/web/d.yaml a.io/x/web:1.2.0", "dev/api/d.yaml a.io/x/api:1.2.0",
				"staging/web/d.yaml a.io/x/web:1.2.0", "prod/web/d.yaml a.io/x/web:1.2.0",
			},
			[]string{"dev dev/{application}", "staging staging/{application} <- dev", "prod prod/{application} <- staging"},
			[]string{"api", "web"},
		},
		{
			"clusters of Flux with categories below",
			[]string{
				"clusters/staging/apps/web/r.yaml a.io/x/web:1.2.0", "clusters/production/apps/web/r.yaml a.io/x/web:1.2.0",
				"clusters/staging/flux-system/gotk-components.yaml ghcr.io/fluxcd/source-controller:v1.0.0",
			},
			[]string{"staging clusters/staging/apps/{application}", "production clusters/production/apps/{application} <- staging"},
			[]string{"web"},
		},
		{
			"environments folder",
			[]string{"environments/test/web/v.yaml a.io/x/web:1.2.0", "environments/live/web/v.yaml a.io/x/web:1.2.0"},
			[]string{"test environments/test/{application}", "live environments/live/{application} <- test"},
			[]string{"web"},
		},
		{
			"values files per environment",
			[]string{
				"charts/web/values.yaml a.io/x/web:1.0.0", "charts/web/values-dev.yaml a.io/x/web:1.2.0", "charts/web/values-prod.yaml a.io/x/web:1.2.0",
				"charts/api/values-dev.yaml a.io/x/api:1.2.0", "charts/api/values-prod.yaml a.io/x/api:1.2.0",
			},
			[]string{"dev charts/{application}/values-dev.yaml", "prod charts/{application}/values-prod.yaml <- dev"},
			[]string{"api", "web"},
		},
		{
			"config files with dots",
			[]string{"config.dev.yaml a.io/x/web:1.2.0", "config.prod.yaml a.io/x/web:1.2.0"},
			[]string{"dev config.dev.yaml", "prod config.prod.yaml <- dev"},
			nil,
		},
		{
			"a file per environment",
			[]string{"web/dev.yaml a.io/x/web:1.2.0", "web/qa.yaml a.io/x/web:1.2.0", "api/dev.yaml a.io/x/api:1.2.0"},
			[]string{"dev {application}/dev.yaml", "qa {application}/qa.yaml <- dev"},
			[]string{"api", "web"},
		},
		{
			"application and environment in one segment",
			[]string{
				"web-dev/d.yaml a.io/x/web:1.2.0", "web-prod/d.yaml a.io/x/web:1.2.0",
				"api-dev/d.yaml a.io/x/api:1.2.0", "test-connection/d.yaml a.io/x/curl:1.2.0",
			},
			[]string{"dev {application}-dev", "prod {application}-prod <- dev"},
			[]string{"api", "web"},
		},
		{
			"several prods side by side, regions in names",
			[]string{
				"apps/web/staging/d.yaml a.io/x/web:1.2.0", "apps/web/prod-eu/d.yaml a.io/x/web:1.2.0", "apps/web/us-prod/d.yaml a.io/x/web:1.2.0",
			},
			[]string{
				"staging apps/{application}/staging", "prod-eu apps/{application}/prod-eu <- staging", "us-prod apps/{application}/us-prod <- staging",
			},
			[]string{"web"},
		},
		{
			"a region keeps to itself",
			[]string{
				"staging-eu/web/d.yaml a.io/x/web:1.2.0", "staging-us/web/d.yaml a.io/x/web:1.2.0",
				"prod-eu/web/d.yaml a.io/x/web:1.2.0", "prod-us/web/d.yaml a.io/x/web:1.2.0", "prod-ap/web/d.yaml a.io/x/web:1.2.0",
			},
			[]string{
				"staging-eu staging-eu/{application}", "staging-us staging-us/{application}",
				"prod-ap prod-ap/{application} <- staging-eu staging-us", "prod-eu prod-eu/{application} <- staging-eu", "prod-us prod-us/{application} <- staging-us",
			},
			[]string{"web"},
		},
		{
			"regions in folders of their own",
			[]string{"prod/eu-west-1/web/d.yaml a.io/x/web:1.2.0", "prod/us-east-1/web/d.yaml a.io/x/web:1.2.0", "dev/eu-west-1/web/d.yaml a.io/x/web:1.2.0"},
			[]string{
				"dev-eu-west-1 dev/eu-west-1/{application}", "prod-eu-west-1 prod/eu-west-1/{application} <- dev-eu-west-1",
				"prod-us-east-1 prod/us-east-1/{application} <- dev-eu-west-1",
			},
			[]string{"web"},
		},
		{
			"tenants with applications of their own",
			[]string{
				"tenants/red/web/dev/d.yaml a.io/red/web:1.2.0", "tenants/red/web/prod/d.yaml a.io/red/web:1.2.0",
				"tenants/blue/api/dev/d.yaml a.io/blue/api:1.2.0", "tenants/blue/api/prod/d.yaml a.io/blue/api:1.2.0",
			},
			[]string{"dev tenants/*/{application}/dev", "prod tenants/*/{application}/prod <- dev"},
			[]string{"api", "web"},
		},
		{
			"tenants with the same application",
			[]string{
				"tenants/red/web/dev/d.yaml a.io/red/web:1.2.0", "tenants/red/web/prod/d.yaml a.io/red/web:1.2.0",
				"tenants/blue/web/dev/d.yaml a.io/blue/web:1.2.0", "tenants/blue/web/prod/d.yaml a.io/blue/web:1.2.0",
				"tenants/blue/api/dev/d.yaml a.io/blue/api:1.2.0",
			},
			[]string{"dev tenants/{application}/*/dev", "prod tenants/{application}/*/prod <- dev"},
			[]string{"blue", "red"},
		},
		{
			"the way to production, playground aside",
			[]string{
				"sandbox/d.yaml a.io/x/web:1.2.0", "dev/d.yaml a.io/x/web:1.2.0", "int/d.yaml a.io/x/web:1.2.0", "qa/d.yaml a.io/x/web:1.2.0",
				"uat/d.yaml a.io/x/web:1.2.0", "preprod/d.yaml a.io/x/web:1.2.0", "prod/d.yaml a.io/x/web:1.2.0",
			},
			[]string{
				"dev dev", "sandbox sandbox", "int int <- dev", "qa qa <- int", "uat uat <- qa", "preprod preprod <- uat", "prod prod <- preprod",
			},
			nil,
		},
		{
			"one stage spelled in two ways",
			[]string{
				"apps/web/overlays/prod/k.yaml a.io/x/web:1.2.0", "apps/api/overlays/prod/k.yaml a.io/x/api:1.2.0",
				"clusters/production/web/k.yaml a.io/x/web:1.2.0",
			},
			[]string{"prod apps/{application}/overlays/prod clusters/production/{application}"},
			[]string{"api", "web"},
		},
		{
			"two spellings side by side are two environments",
			[]string{"dev/web/k.yaml a.io/x/web:1.2.0", "development/web/k.yaml a.io/x/web:1.2.0"},
			[]string{"dev dev/{application}", "development development/{application}"},
			[]string{"web"},
		},
		{
			"some paths name no application",
			[]string{"apps/web/dev/k.yaml a.io/x/web:1.2.0", "apps/web/prod/k.yaml a.io/x/web:1.2.0", "cluster/dev/k.yaml a.io/x/api:1.2.0"},
			[]string{"dev apps/{application}/dev {application}/dev", "prod apps/{application}/prod <- dev"},
			[]string{"cluster", "web"},
		},
		{
			"images in bases only",
			[]string{
				"apps/web/base/d.yaml a.io/x/web:1.2.0", "apps/web/overlays/dev/kustomization.yaml", "apps/web/overlays/prod/kustomization.yaml",
			},
			[]string{"main apps/{application}"},
			[]string{"web"},
		},
		{
			"an environment without a reference is none",
			[]string{
				"apps/web/base/d.yaml a.io/x/web:1.2.0", "apps/web/dev/k.yaml a.io/x/web:1.3.0", "apps/web/staging/k.yaml a.io/x/web:1.2.0",
				"apps/web/prod/kustomization.yaml",
			},
			[]string{"dev apps/{application}/dev", "staging apps/{application}/staging <- dev"},
			[]string{"web"},
		},
		{
			"environments that hold little of what is deployed",
			[]string{
				"services/a/values.yaml a.io/x/a:1.0.0", "services/b/values.yaml a.io/x/b:1.0.0", "services/c/values.yaml a.io/x/c:1.0.0",
				"services/d/values.yaml a.io/x/d:1.0.0", "services/e/values.yaml a.io/x/e:1.0.0", "services/f/values.yaml a.io/x/f:1.0.0",
				"services/g/values.yaml a.io/x/g:1.0.0", "services/h/values.yaml a.io/x/h:1.0.0", "services/i/values.yaml a.io/x/i:1.0.0",
				"services/a/values-staging.yaml a.io/x/a:1.1.0", "services/a/values-prod.yaml a.io/x/a:1.0.0",
				"services/a/.fixtures/values.yaml a.io/x/a:0.1.0",
			},
			[]string{"main services/{application}"},
			[]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"},
		},
		{
			"one odd file beside many applications",
			[]string{
				"staging/web/d.yaml a.io/x/web:1.2.0", "staging/api/d.yaml a.io/x/api:1.2.0", "staging/mail/d.yaml a.io/x/mail:1.2.0",
				"staging/proxy.yaml a.io/x/proxy:1.2.0", "prod/web/d.yaml a.io/x/web:1.2.0", "prod/api/d.yaml a.io/x/api:1.2.0",
				"prod/proxy.yaml a.io/x/proxy:1.2.0",
			},
			[]string{
				"staging staging/{application}.yaml staging/{application}",
				"prod prod/{application}.yaml prod/{application} <- staging",
			},
			[]string{"api", "mail", "proxy", "web"},
		},
		{
			"a namespace above the application",
			[]string{
				"kubernetes/apps/media/plex/app/helmrelease.yaml a.io/x/plex:1.2.0", "kubernetes/apps/media/plex/ks.yaml",
				"kubernetes/apps/media/sonarr/app/helmrelease.yaml a.io/x/sonarr:1.2.0", "kubernetes/apps/default/atuin/app/helmrelease.yaml a.io/x/atuin:1.2.0",
				"kubernetes/apps/ci/runner/app/helmrelease.yaml a.io/x/runner:1.2.0", "kubernetes/apps/actions/controller/runners/home/helmrelease.yaml a.io/x/r:1.2.0",
				"bootstrap/helmfile.yaml a.io/x/b:1.2.0",
			},
			[]string{"main kubernetes/apps/*/{application} {application}"},
			[]string{"atuin", "bootstrap", "controller", "plex", "runner", "sonarr"},
		},
		{
			"the parts of one application",
			[]string{"k8s/deployment.yaml a.io/x/web:1.2.0", "k8s/cronjob.yaml a.io/x/job:1.2.0"},
			[]string{"main"},
			nil,
		},
		{
			"a word that means other things needs company",
			[]string{"components/integration/d.yaml a.io/x/web:1.2.0", "test/d.yaml a.io/x/web:1.2.0", "live-chat/d.yaml a.io/x/chat:1.0.0"},
			[]string{"main components/{application} {application}"},
			[]string{"integration", "live-chat", "test"},
		},
		{
			"an environment below a word that means other things",
			[]string{"components/integration/staging/k.yaml a.io/x/web:1.2.0", "components/integration/production/k.yaml a.io/x/web:1.2.0"},
			[]string{"staging components/{application}/staging", "production components/{application}/production <- staging"},
			[]string{"integration"},
		},
		{
			"letters behind the name of a service are not the environment's",
			[]string{
				"service-a-dev/k.yaml a.io/x/a:1.2.0", "service-a-prod/k.yaml a.io/x/a:1.2.0",
				"service-b-dev/k.yaml a.io/x/b:1.2.0", "service-b-prod/k.yaml a.io/x/b:1.2.0",
			},
			[]string{"dev {application}-dev", "prod {application}-prod <- dev"},
			[]string{"service-a", "service-b"},
		},
		{
			"paths with glob characters are left outside",
			[]string{"dev/k.yaml a.io/x/web:1.2.0", "prod/k.yaml a.io/x/web:1.2.0", "{{app}}/uat/k.yaml a.io/x/web:1.2.0"},
			[]string{"dev dev", "prod prod <- dev"},
			nil,
		},
		{"nothing that says an environment", []string{"k8s/web.yaml a.io/x/web:1.2.0"}, []string{"main"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, test.tree...))
			if diff := cmp.Diff(test.want, environments(s)); diff != "" {
				t.Errorf("environments (-want +got):\n%s\n%s", diff, s.Text)
			}
			if diff := cmp.Diff(test.applications, s.Applications); diff != "" {
				t.Errorf("applications (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfig_nothingToFollow(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{nil, {"README.md"}, {".github/workflows/ci.yaml a.io/x/web:1"}} {
		if _, err := suggest.Config(found(t, lines...)); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v: %v", lines, err)
		}
	}
}

func TestConfig_isStable(t *testing.T) {
	t.Parallel()
	f := found(t, "dev/web/d.yaml a.io/x/web:1.2.0 a.io/y/web:2.0.0", "prod/web/d.yaml a.io/x/web:1.1.0", "base/d.yaml redis:7 a.io/x/z:3")
	want := suggestion(t, f).Text
	for i := range f.References {
		f.References[0], f.References[i] = f.References[i], f.References[0]
		f.Files[0], f.Files[i%len(f.Files)] = f.Files[i%len(f.Files)], f.Files[0]
		if diff := cmp.Diff(want, suggestion(t, f).Text); diff != "" {
			t.Fatalf("another order of the input (-want +got):\n%s", diff)
		}
	}
}

func BenchmarkConfig(b *testing.B) {
	var lines []string
	for i := range 2000 {
		for _, e := range []string{"dev", "staging", "prod"} {
			lines = append(lines, fmt.Sprintf("apps/app%d/overlays/%s/kustomization.yaml a.io/x/web%d:1.2.%d", i, e, i%200, i%10))
		}
	}
	f := found(b, lines...)
	for b.Loop() {
		if _, err := suggest.Config(f); err != nil {
			b.Fatal(err)
		}
	}
}

// The comments of a file in a pull request differ from those of init, the settings
// do not.
func TestConfig_forPullRequest(t *testing.T) {
	t.Parallel()
	tree := found(t, "dev/d.yaml a.io/x/web:1.0.0", "base/d.yaml a.io/x/web:1.0.0", "prod/d.yaml a.io/x/web:1.0.0")
	asked := suggestion(t, tree)
	tree.ForPullRequest = true
	offered := suggestion(t, tree)
	if strings.Contains(offered.Text, "promoter init") || !strings.Contains(offered.Text, "3. Merge its pull request:") {
		t.Errorf("it says\n%s", offered.Text)
	}
	_, settings, _ := strings.Cut(asked.Text, "version: 1\n")
	if _, same, _ := strings.Cut(offered.Text, "version: 1\n"); same != settings {
		t.Errorf("other settings:\n%s", same)
	}
	if len(offered.Inside) != 2 || len(offered.Outside) != 1 || offered.Components[0].Selected() != "{semver: '>=1.0.0 <2'}" {
		t.Errorf("inside %v, outside %v, %s", offered.Inside, offered.Outside, offered.Components[0].Selected())
	}
}

// Each component is an application only where every environment has a file with several, and
// no path names an application.
func TestConfig_services(t *testing.T) {
	t.Parallel()
	const all, two = " a.io/x/api:1.0.0 a.io/x/web:1.0.0 a.io/x/mail:1.0.0", " a.io/x/api:1.0.0 a.io/x/web:1.0.0"
	tests := []struct {
		name string
		tree []string
		want []string
	}{
		{"values of many services", []string{"values-dev.yaml" + all, "values-prod.yaml" + all}, []string{"api", "mail", "web"}},
		{"no environments", []string{"values.yaml" + all}, []string{"api", "mail", "web"}},
		{"an application with its sidecar", []string{"values-dev.yaml" + two, "values-prod.yaml" + two}, nil},
		{"other images beside an application", []string{"values-dev.yaml" + two + " redis:7.0.0", "values-prod.yaml" + two + " redis:7.0.0"}, nil},
		{"few services in one of the environments", []string{"values-dev.yaml" + all, "values-prod.yaml" + two}, nil},
		{"containers of a workload", []string{"dev/deployment.yaml" + all, "prod/deployment.yaml" + all}, nil},
		{"paths with applications", []string{"shop/values-dev.yaml" + all, "shop/values-prod.yaml" + all, "blog/values-dev.yaml" + all}, []string{"blog", "shop"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := suggestion(t, found(t, test.tree...))
			if diff := cmp.Diff(test.want, s.Applications); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, s.Text)
			}
		})
	}
}
