package unused_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/unused"
)

const head = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  api: {image: quay.io/acme/api, select: {semver: ">=1"}}
`

// branch has files of shop and cart in dev: both reference web, and only that of shop has the key of a hold.
func branch(t *testing.T) unused.Branch {
	t.Helper()
	web, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[promotion.Target]promotion.Current{}
	for _, name := range []string{"shop", "cart"} {
		targets[promotion.Target{Environment: "dev", Application: name}] = promotion.Current{References: []edit.Reference{
			{Component: "web", Repository: web, Position: edit.Position{File: "dev/" + name + "/app.yaml", Line: 1}},
		}}
	}
	shop := promotion.Target{Environment: "dev", Application: "shop"}
	current := targets[shop]
	current.Holds = []edit.Hold{{Position: edit.Position{File: "dev/shop/app.yaml", Line: 2}, Key: "locked", Value: "false"}}
	targets[shop] = current
	return unused.Branch{Environments: []string{"dev"}, Files: []string{"dev/shop/app.yaml", "dev/cart/app.yaml"}, Targets: targets}
}

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	c, problems := config.Load("c", []byte(text))
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	return c
}

func loadServer(t *testing.T, text string) *serverconfig.Config {
	t.Helper()
	c, problems := serverconfig.Load("s", []byte("version: 1\n"+text), func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	return c
}

var now = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// Each row warns of what matches nothing, with its position, and of nothing else.
func TestFind_configFile(t *testing.T) {
	t.Parallel()
	const dev = `environments: {dev: {paths: ["dev/{application}"]KEYS}}` + "\n"
	environment := func(keys string) string { return strings.Replace(dev, "KEYS", keys, 1) }
	const api = "c:4:3: warning: no file of an environment references quay.io/acme/api, which api follows (correct the name, or remove the component)"
	tests := []struct{ name, text, want string }{
		{"nothing else", environment(""), ""},
		{
			"a path", `environments: {dev: {paths: ["dev/{application}", "apps/{application}/dev"]}}`,
			`c:5:16: warning: no file matches the path "apps/{application}/dev" of dev (paths begin at the root of the repository)`,
		},
		{
			"an exclude", environment(", exclude: [dev/shop/app.yaml, dev/*/old.yaml]"),
			`c:5:16: warning: no file matches the exclude "dev/*/old.yaml" of dev (correct it, or remove it)`,
		},
		{
			"the key of a hold", environment(", gates: {hold: {key: locked}}"),
			"c:5:72: warning: no file of cart in dev has locked, so promotions wait (add the key, or set gates.hold.absent to pass)",
		},
		{"a hold that passes", environment(", gates: {hold: {key: locked, absent: pass}}"), ""},
		{
			"an application", environment("") + "applications: {shp: {settle: 1h}, c*: {settle: 1h}}",
			"c:6:16: warning: no application is called shp, so its settings have no effect (did you mean shop?)",
		},
		{
			"a component of an application", environment("") + "applications: {shop: {components: [web, api]}}",
			"c:6:16: warning: no file of shop references its component api (correct components, or remove it there)",
		},
		{
			"an allow window that has ended", environment(", gates: {windows: [fair]}") + "windows: {fair: {kind: allow, until: 2026-11-01}}",
			"c:6:11: warning: the window fair never opens again, so it allows nothing (change it, or remove it)",
		},
		{
			"a deny window that has ended", environment(", gates: {windows: [xmas]}") + "windows: {xmas: {kind: deny, from: 2025-12-21, until: 2026-01-04}}",
			"c:6:11: warning: the window xmas has ended, so it denies nothing (change it, or remove it)",
		},
		{"a deny window to come", environment(", gates: {windows: [xmas]}") + "windows: {xmas: {kind: deny, from: 2026-12-21, until: 2027-01-04}}", ""},
		{"a deny window without end", environment(", gates: {windows: [stop]}") + "windows: {stop: {kind: deny, from: 2026-01-01}}", ""},
		{"a window each day", environment(", gates: {windows: [day]}") + `windows: {day: {kind: allow, schedule: "0 9 * * *", duration: 1h}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := unused.Repository{Config: load(t, head+test.text), Branches: []unused.Branch{branch(t)}, Certain: true}
			want := strings.TrimPrefix(api+"\n"+test.want, "\n")
			if diff := cmp.Diff(strings.TrimSuffix(want, "\n"), unused.Find(unused.Facts{Now: now, Repositories: []unused.Repository{r}}).String()); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("only of a component", func(t *testing.T) {
		t.Parallel()
		text := strings.Replace(head, `quay.io/acme/web, `, `quay.io/acme/web, only: {applications: [shop, crat]}, `, 1) + environment("")
		r := unused.Repository{Config: load(t, text), Branches: []unused.Branch{branch(t)}, Certain: true}
		const want = "c:3:3: warning: no application is called crat in only.applications of web (did you mean cart?)\n" + api
		if diff := cmp.Diff(want, unused.Find(unused.Facts{Now: now, Repositories: []unused.Repository{r}}).String()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("without files", func(t *testing.T) {
		t.Parallel()
		r := unused.Repository{Config: load(t, head+environment(", gates: {hold: {key: locked}}"))}
		if found := unused.Find(unused.Facts{Now: now, Repositories: []unused.Repository{r}}); len(found) > 0 {
			t.Error(found)
		}
	})
	t.Run("with a refused file", func(t *testing.T) {
		t.Parallel()
		r := unused.Repository{Config: load(t, head+environment("")), Branches: []unused.Branch{branch(t)}}
		if found := unused.Find(unused.Facts{Now: now, Repositories: []unused.Repository{r}}); len(found) > 0 {
			t.Error(found)
		}
	})
}

const forge = "forges: {gh: {kind: gitlab, url: \"https://git.example.com\", token: env:T}}\nrepositories: [{forge: gh, name: acme/gitops}]\nurl: https://p.example.com\n"

// Between both files, names that one has and the other does not.
func TestFind_serverFile(t *testing.T) {
	t.Parallel()
	const text = head + `environments:
  dev: {paths: ["dev/{application}"], notify: [{on: [landed], to: chat}], health: {argocd: ["{application}"], from: argo}}
`
	const chat = "notify: {destinations: {chat: {repositories: [\"git.example.com/acme/*\"], webhook: {url: \"https://x.example.com\", secret: env:S}}}}\n"
	const argo = "receivers: {argo: {kind: argocd, secret: env:A}}\n"
	tests := []struct{ name, server, want string }{
		{"nothing", forge + chat + argo, ""},
		{
			"names of the config file", forge,
			"c:6:67: warning: there is no destination \"chat\" that this repository may use (add the destination, or the repository to its repositories, or correct notify)\n" +
				"c:6:83: warning: health is never known: from names the receiver argo, which the server file does not have (add it to receivers, with kind: argocd)",
		},
		{
			"a destination", forge + argo + strings.Replace(chat, "{chat:", "{old: {repositories: [\"**\"], webhook: {url: \"https://y.example.com\", secret: env:S}}, chat:", 1),
			"s:6:25: warning: no config file sends notifications to the destination old (name it under notify of a config file, or remove it)",
		},
		{
			"a receiver", forge + chat + "receivers: {argo: {kind: argocd, secret: env:A}, flux: {kind: flux, secret: env:F}}\n",
			"s:6:50: warning: no environment reads the health that the receiver flux reports (name it in health.from of an environment, or remove it)",
		},
		{
			"a glob of repositories", forge + chat + argo + "limits: [{repositories: [\"git.example.com/acem/*\"], environments: [dev], land: [pr]}]\n",
			"s:7:10: warning: no repository matches \"git.example.com/acem/*\" of limits (correct it, or remove it)",
		},
		{
			"a glob of environments", forge + chat + argo + "limits: [{environments: [dve], land: [pr]}]\n",
			"s:7:10: warning: no environment is called dve in limits (did you mean dev?)",
		},
		{
			"images", forge + chat + argo + "verify: [{images: [\"quay.io/acem/**\"], cosign: {key: env:K}}]\n",
			"s:7:10: warning: no component follows an image that matches \"quay.io/acem/**\" of verify (correct it, or remove it)",
		},
		{
			"a forge", strings.Replace(forge, "{gh:", "{old: {kind: gitlab, url: \"https://old.example.com\", token: env:T}, gh:", 1) + chat + argo,
			"s:2:10: warning: no repository is on the forge old (add it to repositories, or remove it)",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			matches := func(globs []string) bool {
				return globs[0] == "**" || strings.HasPrefix(globs[0], "git.example.com/acme/")
			}
			facts := unused.Facts{
				Now: now, Server: loadServer(t, test.server), Complete: true, Names: []unused.Matcher{matches},
				Repositories: []unused.Repository{{Config: load(t, text), Matches: matches}},
			}
			if diff := cmp.Diff(test.want, unused.Find(facts).String()); diff != "" {
				t.Error(diff)
			}
			facts.Complete, facts.Names = false, nil // what other repositories use is not known
			for _, problem := range unused.Find(facts) {
				if problem.File == "s" {
					t.Errorf("not certain: %v", problem)
				}
			}
		})
	}
}
