package app_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/decision"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// fleet is a GitHub, a registry with a new version, and a server file for both.
type fleet struct {
	*world
	github *githubtest.Server
	env    map[string]string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{world: newWorld(t, nil), github: githubtest.New(t, githubtest.Options{})}
	f.github.AddUser("promoter-bot")
	f.push("acme/web:1.4.0", "one")
	f.push("acme/web:1.5.0", "two")
	f.env = map[string]string{"TOKEN": f.github.Token("promoter-bot", "repo", "read:org")}
	return f
}

// repository creates a repository that the bot may push to.
func (f *fleet) repository(name string, files map[string]string) *githubtest.Repository {
	f.t.Helper()
	expanded := map[string]string{}
	for file, content := range files {
		expanded[file] = f.expand(content)
	}
	made := f.github.NewRepository(name, expanded)
	made.Settings.Permit("promoter-bot", "write")
	return made
}

// open opens the server file: the repositories, and more text.
func (f *fleet) open(more string, repositories ...string) *connect.Connections {
	f.t.Helper()
	var list strings.Builder
	for _, name := range repositories {
		fmt.Fprintf(&list, "  - {forge: github, name: %s}\n", name)
	}
	text := fmt.Sprintf(`version: 1
forges:
  github: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
%snetworks: [127.0.0.0/8]
%s`, f.github.URL(), list.String(), more)
	env := func(name string) (string, bool) { value, set := f.env[name]; return value, set }
	return connected(f.t, f.write("server.yaml", text), env, time.Now)
}

// run returns the results of a run by repository.
func (f *fleet) run(server *connect.Connections) map[string]app.Result {
	f.t.Helper()
	results, err := app.Run(f.t.Context(), server, app.RunOptions{CacheDir: filepath.Join(f.dir, "cache")})
	if err != nil {
		f.t.Fatal(err)
	}
	return byName(results)
}

func byName(results []app.Result) map[string]app.Result {
	all := map[string]app.Result{}
	for _, result := range results {
		all[result.Repository] = result
	}
	return all
}

const insecureRegistry = "registries:\n  - {host: \"$R\", insecure: true}\n"

// webIn is a repository with one environment.
func webIn(land string) map[string]string {
	return map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: $R/acme/web, select: {semver: \">=1\"}}\n" +
			"environments:\n  dev: {paths: [dev], land: " + land + "}\n",
		"dev/app.yaml": "image: $R/acme/web:1.4.0\n",
	}
}

// acts lists the actions of a result.
func acts(result app.Result) []outcome.Action {
	var done []outcome.Action
	for _, d := range result.Report.Effects {
		if d.Action != outcome.ActionNone {
			done = append(done, d.Action)
		}
	}
	return done
}

// What is wrong with one repository affects no other one, and is reported by run and
// observe alike.
func TestRun_failuresAreIsolated(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/gitops", webIn("pr"))
	f.repository("acme/archived", webIn("pr")).Settings.SetArchived(true)
	f.repository("acme/readonly", webIn("pr")).Settings.Permit("promoter-bot", "read")
	f.repository("acme/before", webIn("push")).Settings.Rename("after")
	f.repository("acme/wrong", map[string]string{".promoter.yaml": "version: 2\n"})
	f.repository("acme/none", map[string]string{"README.md": "nothing\n"})
	server := f.open(insecureRegistry, "acme/gitops", "acme/archived", "acme/readonly", "acme/before", "acme/wrong", "acme/none", "acme/gone")
	results := f.run(server)

	good := results["acme/gitops"]
	if good.Failed() || len(acts(good)) != 1 || acts(good)[0] != outcome.ActionOpened {
		t.Errorf("acme/gitops: %+v", good)
	}
	moved := results["acme/before"]
	if name, ok := moved.Moved(); moved.Failed() || !ok || name != "acme/after" || len(acts(moved)) != 1 {
		t.Errorf("acme/before: %+v", moved)
	}
	seen, err := app.Explain(t.Context(), server, app.RunOptions{}, reconcile.Question{})
	observed := byName(seen)
	if good := observed["acme/gitops"]; err != nil || good.Err != nil || good.Report.Unusable != "" {
		t.Errorf("observed acme/gitops: %v, %+v", err, good)
	}
	for name, words := range map[string]string{
		"acme/archived": "archived: unarchive it",
		"acme/readonly": "give it write access",
		"acme/wrong":    "the config cannot be used: .promoter.yaml:1:",
		"acme/none":     "write one with 'promoter init'",
	} {
		if result := results[name]; !result.Failed() || !strings.Contains(result.Report.Unusable, words) {
			t.Errorf("%s: %v %q, want the state %q", name, result.Err, result.Report.Unusable, words)
		}
		if result := observed[name]; name != "acme/readonly" && (result.Err != nil || !strings.Contains(result.Report.Unusable, words)) {
			t.Errorf("observed %s: %v %q, want %q", name, result.Err, result.Report.Unusable, words)
		}
	}
	gone := results["acme/gone"]
	if fault.KindOf(gone.Err) != fault.NotFound || !strings.Contains(gone.Err.Error(), "or the credential of the forge github may not see it") {
		t.Errorf("acme/gone: %v", gone.Err)
	}
	if again := f.run(server)["acme/gitops"]; again.Failed() || len(acts(again)) > 0 {
		t.Errorf("a second pass does %v, %v", acts(again), again.Err)
	}
}

func TestRun_revokedToken(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/gitops", webIn("pr"))
	f.github.Revoke(f.env["TOKEN"])
	result := f.run(f.open(insecureRegistry, "acme/gitops"))["acme/gitops"]
	if fault.KindOf(result.Err) != fault.Unauthorized || !strings.Contains(result.Err.Error(), "check the credential of the forge github") {
		t.Errorf("got %v", result.Err)
	}
	if strings.Contains(fmt.Sprint(result), f.env["TOKEN"]) {
		t.Error("the result shows the token")
	}
}

// A credential of a registry is used for its repositories only, and a broken one affects
// no others.
func TestRun_credentialsOfOthersAreNotUsed(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]bool{"set": true, "not set": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			if set {
				f.env["REGISTRY_PASSWORD"] = "canary-31"
				f.private("robot", "canary-31")
			}
			f.repository("tenant-a/gitops", webIn("push"))
			f.repository("tenant-b/gitops", webIn("push"))
			results := f.run(f.open(`registries:
  - host: "$R"
    insecure: true
    credentials: {username: robot, password: "env:REGISTRY_PASSWORD"}
    usableBy: ["`+f.github.Host()+`/Tenant-A/**"]
`, "tenant-a/gitops", "tenant-b/gitops"))
			for tenant, works := range map[string]bool{"tenant-a/gitops": set, "tenant-b/gitops": !set} {
				if result := results[tenant]; result.Failed() == works || (len(acts(result)) == 1) != works {
					t.Errorf("%s: %+v", tenant, result)
				}
			}
			if own := fmt.Sprint(results["tenant-a/gitops"].Report.Errors); strings.Contains(own, "env:REGISTRY_PASSWORD: the environment variable is not set") == set {
				t.Errorf("the errors are %s", own)
			}
			if strings.Contains(fmt.Sprint(results), "canary-31") {
				t.Error("a result shows the password")
			}
		})
	}
}

// private lets the registry require a password.
func (f *fleet) private(user, password string) {
	f.registry.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if u, p, _ := r.BasicAuth(); u != user || p != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

func TestRun_readsOncePerCredential(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/one", webIn("push"))
	f.repository("acme/two", webIn("push"))
	results := f.run(f.open(insecureRegistry, "acme/one", "acme/two"))
	for name, result := range results {
		if result.Failed() || len(acts(result)) != 1 {
			t.Errorf("%s: %+v", name, result)
		}
	}
	if n := f.listed("acme/web"); n != 1 {
		t.Errorf("the tags were listed %d times, want once", n)
	}
}

func TestRun_serverLimitsApply(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/limited", webIn("push"))
	f.repository("acme/free", webIn("push"))
	results := f.run(f.open(insecureRegistry+"limits:\n  - {repositories: [\""+f.github.Host()+"/acme/limited\"], environments: [d*], land: [pr]}\n",
		"acme/limited", "acme/free"))
	if got := acts(results["acme/limited"]); len(got) != 1 || got[0] != outcome.ActionOpened {
		t.Errorf("beyond the limit: %v, want a pull request", got)
	}
	if got := acts(results["acme/free"]); len(got) != 1 || got[0] != outcome.ActionPushed {
		t.Errorf("without a limit: %v, want a push", got)
	}
}

// Whatever a user who can write to the repository renames, what a limit of a branch and a
// folder is about is not pushed.
func TestRun_serverLimitsHoldAfterRenaming(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var names []string
	for name, paths := range map[string]string{
		"acme/as-it-is": "prod: {paths: [prod]", "acme/other-environment": "live: {paths: [prod]", "acme/lax-environment": "dev: {paths: [prod]",
		"acme/application": "dev: {paths: ['{application}/web.yaml']", "acme/everything": "dev: {paths: ['**']", "acme/folder": "dev: {paths: [live]",
		"acme/hidden": "dev: {paths: [dev, prod/web.yaml]",
	} {
		files := webIn("push")
		files[".promoter.yaml"] = strings.Replace(files[".promoter.yaml"], "dev: {paths: [dev]", paths, 1)
		for _, folder := range []string{"prod", "live"} {
			files[folder+"/web.yaml"] = files["dev/app.yaml"]
		}
		f.repository(name, files)
		names = append(names, name)
	}
	results := f.run(f.open(insecureRegistry+`limits:
  - {branches: [main], paths: ["prod/**"], land: [pr]}
  - {branches: [main], paths: ["dev/**"], land: [push, automerge, pr]}
  - {environments: [dev], land: [push, automerge, pr]}
`, names...))
	for name, result := range results {
		if got := acts(result); len(got) == 0 || slices.Contains(got, outcome.ActionPushed) {
			t.Errorf("%s: %v, %+v", name, got, result.Report)
		}
	}
}

// released is a repository that follows the releases of another.
func released(source string) map[string]string {
	files := webIn("push")
	files[".promoter.yaml"] = strings.Replace(files[".promoter.yaml"], `{semver: ">=1"}`, "{release: "+source+"}", 1)
	return files
}

func TestRun_releases(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	source := f.repository("acme/web", map[string]string{"README": "web"})
	source.Settings.AddRelease("acme", "1.5.0", time.Now().Add(-time.Hour), false, false)
	source.Settings.AddRelease("acme", "1.6.0", time.Now(), false, false) // its image does not exist yet
	f.repository("acme/gitops", released("github/acme/web"))
	f.repository("tenant-b/gitops", released("github/acme/web"))
	sees := "sources:\n  - {repositories: [\"" + f.github.Host() + "/acme/web\"], usableBy: [\"" + f.github.Host() + "/acme/gitops\"]}\n"
	f.repository("acme/unnamed", released("github/acme/web"))
	results := f.run(f.open(insecureRegistry+sees, "acme/gitops", "acme/unnamed", "tenant-b/gitops"))
	if own := results["acme/gitops"]; own.Failed() || len(acts(own)) != 1 || !strings.Contains(fmt.Sprint(own.Report.Decisions), "1.6.0") {
		t.Errorf("of a repository with a rule: %+v", own)
	}
	for _, name := range []string{"tenant-b/gitops", "acme/unnamed"} {
		other := results[name]
		if !other.Failed() || len(acts(other)) > 0 {
			t.Errorf("%s: a private source was read: %+v", name, other)
		}
		if words := fmt.Sprint(other.Report.Errors); !strings.Contains(words, "asked without a credential: no entry of sources in the server file lets this repository see "+f.github.Host()+"/acme/web") {
			t.Errorf("%s: a private source gives %s", name, words)
		}
	}
	source.Settings.SetPrivate(false)
	results = f.run(f.open(insecureRegistry, "tenant-b/gitops"))
	if public := results["tenant-b/gitops"]; public.Failed() || len(acts(public)) != 1 {
		t.Errorf("a public source of somebody else: %+v", public)
	}
}

// However a run ends, it leaves nothing behind.
func TestRun_interruptedRunLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	f := newFleet(t)
	f.repository("acme/gitops", webIn("push"))
	server := f.open(insecureRegistry, "acme/gitops")
	ctx, cancel := context.WithCancel(t.Context())
	f.registry.Replace(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	results, err := app.Run(ctx, server, app.RunOptions{})
	if err == nil || len(results) != 1 || !results[0].Unfinished || !results[0].Failed() {
		t.Errorf("an interrupted run is no error, or its repository is done: %v, %+v", err, results)
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestRecordDecision_recordsTheUserOfTheToken(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	repository := f.repository("acme/gitops", webIn("push"))
	f.env["PROMOTER_USER_TOKEN"] = f.env["TOKEN"] // of a user
	server := f.open(insecureRegistry, "acme/gitops")
	carried, err := decision.Record(t.Context(), server, decision.Decision{Verb: verb.Hold, Environment: "dev", Reason: "incident"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if carried.By.Login != "promoter-bot" || carried.By.Host != f.github.Host() {
		t.Errorf("by %+v", carried.By)
	}
	if want := []promotion.Target{{Environment: "dev", Application: "_all"}}; len(carried.Targets) != 1 || carried.Targets[0] != want[0] {
		t.Errorf("places %v", carried.Targets)
	}
	if text := repository.Git.Run("show", "promoter/_state:dev/_all.json"); !strings.Contains(text, "promoter-bot") || !strings.Contains(text, "incident") {
		t.Errorf("the state says %s", text)
	}
}
