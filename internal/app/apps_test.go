package app_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// One App at several owners: each repository is reconciled with the credential of its
// owner, and an error of one does not affect others.
func TestRun_installationsOfOneApp(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	o.repository("acme/docs", map[string]string{"README": "words"})
	o.repository("acme/old", webIn("push")).Settings.SetArchived(true)
	o.repository("globex/gitops", webIn("pr"))
	o.repository("globex/other", webIn("pr")) // the App is not installed on it
	o.repository("initech/gitops", webIn("push"))
	o.repository("umbrella/gitops", webIn("push"))
	acme := o.app.Install("acme")
	globex := o.app.Install("globex", o.github.Repository("globex/gitops"))
	o.app.Install("initech").Suspend()
	umbrella := o.app.Install("umbrella")
	less := needed()
	delete(less, "checks")
	umbrella.Permit(less)
	other := o.github.NewApp("another", needed())
	other.Install("hooli")

	results := o.run("")
	if got := slices.Sorted(maps.Keys(results)); !slices.Equal(got, []string{"acme/gitops", "globex/gitops", "umbrella/*"}) {
		t.Errorf("worked on %v", got)
	}
	for name, want := range map[string]string{
		"acme/gitops": fmt.Sprint([]outcome.Action{outcome.ActionPushed}), "globex/gitops": fmt.Sprint([]outcome.Action{outcome.ActionOpened}),
		"umbrella/*": "failed: the installation of the App promoter at umbrella lacks Checks: read-only: an owner of umbrella accepts the App's new permissions at " +
			o.github.URL() + fmt.Sprintf("/organizations/umbrella/settings/installations/%d[]", umbrella.ID()),
	} {
		if got := did(results[name]); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	wanted := []string{
		"github: the installation at initech is suspended, and left out: an owner of initech lets it work again at " + o.github.URL() + "/organizations/initech/settings/installations/",
		"github: 1 without .promoter.yaml left out", "github: 1 archived left out",
	}
	for i, note := range wanted {
		if i >= len(o.notes) || !strings.HasPrefix(o.notes[i], note) {
			t.Errorf("the notes are %q, want %q", o.notes, wanted)
			break
		}
	}
	o.onlyOwn(map[string]*githubtest.Installation{"acme": acme, "globex": globex})
	by := o.github.Repository("acme/gitops").Git.Run("log", "-1", "--format=%an <%ae> %cn <%ce>")
	host, _, _ := strings.Cut(o.github.Host(), ":")
	if want := regexp.MustCompile(`^(promoter\[bot\] <[0-9]+\+promoter\[bot\]@users\.noreply\.` + regexp.QuoteMeta(host) + `>) (.*)$`).FindStringSubmatch(by); want == nil || want[1] != want[2] {
		t.Errorf("the commit is by %s", by)
	}

	o.github.Traffic.ResetRequests()
	for name, result := range o.run("") {
		if len(acts(result)) > 0 {
			t.Errorf("a second run does %v in %s", acts(result), name)
		}
	}
	for route, n := range o.github.Traffic.Requests() {
		if !strings.HasPrefix(route, "GET ") && route != "GIT info/refs" && (route != "POST /app/installations/{id}/access_tokens" || n != 2) {
			t.Errorf("a second run asks %s %d times", route, n)
		}
	}
}

// onlyOwn checks with which credentials every repository was requested.
func (o *orchard) onlyOwn(owners map[string]*githubtest.Installation) {
	o.t.Helper()
	seen := map[string]int{}
	for _, asked := range o.github.Asked() {
		owner, _, named := strings.Cut(asked.Repository, "/")
		if !named || asked.By == "app promoter" {
			continue
		}
		of := owners[owner]
		if of == nil || asked.By != fmt.Sprintf("installation %d", of.ID()) {
			o.t.Errorf("%s of %s was asked by %q", asked.Route, asked.Repository, asked.By)
		}
		seen[owner]++
	}
	if len(seen) != len(owners) {
		o.t.Errorf("asked were %v", seen)
	}
}

// The pull request belongs to the account of the App, which the next run recognizes.
func TestRun_appOpensAndRefreshesItsOwn(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	repository := o.repository("acme/gitops", webIn("pr"))
	o.app.Install("acme")
	o.run("")
	if got := repository.Pulls.All(); len(got) != 1 || got[0].Author != "promoter[bot]" {
		t.Fatalf("pull requests: %+v", got)
	}
	o.push("acme/web:1.6.0", "three")
	if got := did(o.run("")["acme/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionRefreshed}) {
		t.Errorf("with a newer version: %s", got)
	}
	repository.Pulls.Merge("ann", 1, "squash")
	if got := did(o.run("")["acme/gitops"]); got != "[]" {
		t.Errorf("after the merge: %s", got)
	}
}

// More time passes between a listing and a push than the lifetime of a token.
func TestRun_tokenExpiresDuringARun(t *testing.T) {
	t.Parallel()
	for _, route := range []string{"GET /repos/{owner}/{repo}/pulls", "GIT upload-pack", "POST /repos/{owner}/{repo}/pulls"} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			o := newOrchard(t)
			o.repository("acme/gitops", webIn("pr"))
			o.app.Install("acme")
			o.github.Traffic.Watch(firstTime(route, func() { o.pass(2 * time.Hour) }))
			if got := did(o.run("")["acme/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionOpened}) {
				if route == "GIT upload-pack" { // a session that had begun; the next one sends another request
					got = did(o.run("")["acme/gitops"])
				}
				if got != fmt.Sprint([]outcome.Action{outcome.ActionOpened}) {
					t.Error(got)
				}
			}
			if n := o.github.Traffic.Requests()["POST /app/installations/{id}/access_tokens"]; n < 2 {
				t.Errorf("%d tokens were made", n)
			}
		})
	}
}

// firstTime calls a function just before the first request of a route.
func firstTime(route string, do func()) func(string) {
	var first sync.Once
	return func(seen string) {
		if seen == route {
			first.Do(do)
		}
	}
}

func TestRun_installationIsSuspendedOrRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(*githubtest.Installation)
		words   string
	}{
		"suspended": {(*githubtest.Installation).Suspend, "suspended"},
		"removed":   {(*githubtest.Installation).Remove, "the App was removed from acme"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrchard(t)
			o.repository("acme/gitops", webIn("pr"))
			o.repository("globex/gitops", webIn("pr"))
			acme := o.app.Install("acme")
			o.app.Install("globex")
			o.github.Traffic.Watch(firstTime("GET /repos/{owner}/{repo}/pulls", func() { test.happens(acme) }))
			results := o.run("")
			if got := did(results["globex/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionOpened}) {
				t.Errorf("globex: %s", got)
			}
			// Git reports it first if the request was one for globex.
			got := did(results["acme/gitops"])
			if !strings.Contains(got, "failed") || !strings.Contains(got, test.words) && !strings.Contains(got, "check the installation of the App at acme") {
				t.Errorf("acme: %s", got)
			}
			o.github.Traffic.Watch(nil)
			acme.Resume()
			if _, there := o.run("")["acme/gitops"]; there != (name == "suspended") {
				t.Errorf("the next run: acme is there: %t", there)
			}
		})
	}
}

// Releases that no rule names are requested without a credential, although the App is
// installed there too. Others are requested as the installation of their owner.
func TestRun_releasesOfAnotherInstallation(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	for _, name := range []string{"acme/web", "globex/web", "globex/shared"} {
		source := o.repository(name, map[string]string{"README": "web"})
		source.Settings.AddRelease(name[:strings.Index(name, "/")], "1.5.0", time.Unix(1_700_000_000, 0), false, false)
	}
	o.repository("acme/own", released("github/acme/web"))
	o.repository("acme/guest", released("github/globex/shared"))
	o.repository("acme/stranger", released("github/globex/web"))
	acme := o.app.Install("acme")
	globex := o.app.Install("globex")
	host := o.github.Host()
	results := o.run("sources:\n  - {repositories: [\"" + host + "/acme/web\", \"" + host + "/globex/shared\"], usableBy: [\"" + host + "/acme/*\"]}\n")
	for _, name := range []string{"acme/own", "acme/guest"} {
		if got := did(results[name]); got != fmt.Sprint([]outcome.Action{outcome.ActionPushed}) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := did(results["acme/stranger"]); !strings.Contains(got, "asked without a credential: no entry of sources in the server file lets this repository see "+host+"/globex/web") {
		t.Errorf("without a rule: %s", got)
	}
	for _, asked := range o.github.Asked() {
		want := map[string]string{"acme/web": fmt.Sprintf("installation %d", acme.ID()), "globex/shared": fmt.Sprintf("installation %d", globex.ID()), "globex/web": ""}[asked.Repository]
		if asked.Route == "GET /repos/{owner}/{repo}/releases" && asked.By != want {
			t.Errorf("the releases of %s were requested by %q", asked.Repository, asked.By)
		}
	}
}

func TestRun_wrongClock(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", webIn("push"))
	o.app.Install("acme")
	server, err := o.open("")
	if err != nil {
		t.Fatal(err)
	}
	server.Server.Now = func() time.Time { return o.now().Add(20 * time.Minute) }
	var notes []string
	results, err := app.Run(t.Context(), server, app.RunOptions{Note: func(note string) { notes = append(notes, note) }})
	if err != nil || len(results) != 1 || did(results[0]) != fmt.Sprint([]outcome.Action{outcome.ActionPushed}) {
		t.Errorf("got %v, %v", results, err)
	}
	if want := "github: the clock of this machine is 20m0s ahead of GitHub's: set it, for instance with NTP"; !slices.Contains(notes, want) {
		t.Errorf("the notes are %q", notes)
	}
}

func TestRun_appCannotBeUsed(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	other := o.github.NewApp("another", needed())
	for name, test := range map[string]struct{ key, words string }{
		"a key of another App": {other.Key(), "A JSON web token could not be decoded: check that app.key is a private key of the App with this app.id"},
		"no key":               {"secret", "the private key is no PEM"},
		"an empty file":        {"", "app.pem"},
	} {
		server, err := o.open("")
		if err != nil {
			t.Fatal(err)
		}
		o.write("app.pem", test.key)
		results, err := app.Run(t.Context(), server, app.RunOptions{})
		if err != nil || len(results) != 1 || results[0].Repository != "github" || !strings.Contains(did(results[0]), test.words) {
			t.Errorf("%s: %v, %v", name, results, err)
		}
	}
}
