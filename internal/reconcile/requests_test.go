package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// prodOnRequest is a config in which dev is pushed to, and prod follows it on request.
const prodOnRequest = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  prod: {paths: ["prod/{application}.txt"], after: [dev], propose: manual, land: automerge}
`

// requested is a request of ada for a version of web.
func (w *world) requested(tag string) state.Request {
	image := web + ":" + tag + "@" + reconciletest.Digest("web "+tag)
	return state.Request{Act: w.act("for the fair"), For: map[string]string{"web": image}}
}

// What a user requests while an environment is frozen is what lands after the thaw, and nothing that came since.
func TestRequest_landsWhatTheUserSaw(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prodOnRequest)
	w.pushAndRun(web, "1.1.0")
	w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), w.requested("1.1.0")))
	w.run()
	w.calm()
	w.Clock.Add(time.Hour)
	w.pushAndRun(web, "1.2.0")
	w.holds("prod", "1.0.0 1.0.0")
	if own := w.state().At(in("prod")).Request; own == nil {
		t.Fatal("the request ended while the environment was frozen")
	}
	w.decide(state.Thaw("prod"))
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	if own := w.state().At(in("prod")); own.Request != nil || own.EndedRequest != nil {
		t.Errorf("request: %+v, ended: %+v", own.Request, own.EndedRequest)
	}
	w.calm()
}

// A request whose version can no longer come ends, with the reason, and no other version lands for it.
func TestRequest_endsWhenItsVersionCannotCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(prodOnRequest, "after: [dev]", "after: {dev: {soak: 2h}}", 1))
	w.pushAndRun(web, "1.1.0")
	w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), w.requested("1.1.0")))
	w.run()
	w.Clock.Add(time.Hour)
	report := w.pushAndRun(web, "1.2.0") // before 1.1.0 had soaked
	ended := w.state().At(in("prod")).EndedRequest
	if ended == nil || ended.By.Login != "ada" || !strings.Contains(ended.Why, "dev soak: present from ") {
		t.Fatalf("ended: %+v", ended)
	}
	noted := func(notes []promotion.Reason) bool {
		for _, note := range notes {
			if note.Rule == promotion.RuleRequestEnded && strings.Contains(note.Message, "the request of ada for web 1.1.0 ended: dev soak") {
				return true
			}
		}
		return false
	}
	for _, d := range report.Decisions {
		if d.Environment == "prod" && !noted(d.Notes) {
			t.Errorf("notes: %v", d.Notes)
		}
	}
	w.decide(state.Thaw("prod"))
	w.Clock.Add(3 * time.Hour)
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.calm()
	w.decide(state.AddRequest(in("prod"), w.requested("1.2.0")))
	w.run()
	w.holds("prod", "1.2.0 1.0.0")
	if own := w.state().At(in("prod")); own.Request != nil || own.EndedRequest != nil {
		t.Errorf("request: %+v, ended: %+v", own.Request, own.EndedRequest)
	}
}

// A request is neither done nor over when other environments become the parents of its target: these may get its
// versions later.
func TestRequest_outlivesAChangeOfParents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prodOnRequest+`  staging: {paths: ["staging/{application}.txt"], after: [dev], propose: manual, land: push}
`)
	w.pushAndRun(web, "1.1.0")
	w.decide(state.Freeze("prod", w.act("holidays"), nil), state.AddRequest(in("prod"), w.requested("1.1.0")))
	w.run()
	w.rename([]string{"after: [dev], propose: manual, land: automerge", "after: [staging], propose: manual, land: automerge"})
	w.run()
	wantReason(t, w.run(), "prod", "up to date")
	if own := w.state().At(in("prod")); own.Request == nil || own.EndedRequest != nil {
		t.Fatalf("request: %+v, ended: %+v", own.Request, own.EndedRequest)
	}
	w.decide(state.Thaw("prod"), state.AddRequest(in("staging"), w.requested("1.1.0")))
	w.run()
	w.holds("staging", "1.1.0 1.0.0")
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	if own := w.state().At(in("prod")); own.Request != nil || own.EndedRequest != nil {
		t.Errorf("request: %+v, ended: %+v", own.Request, own.EndedRequest)
	}
	w.calm()
}

// A version that a user reverted in Git is not brought back by a request that names it, also where the parents have
// what the target has.
func TestRequest_bringsBackNothingThatWasReverted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(prodOnRequest, "propose: manual, land: automerge", "land: push"))
	w.pushAndRun(web, "1.1.0")
	w.holds("prod", "1.1.0 1.0.0")
	w.Clock.Add(time.Minute)
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	w.byHand("main", "prod", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.Clock.Add(time.Minute)
	w.decide(state.AddRequest(in("prod"), state.Request{Act: w.act("for the fair"), With: []string{line(web, "1.1.0")}}))
	wantReason(t, w.run(), "prod", "was here before and was reverted")
	w.holds("prod", "1.0.0 1.0.0")
	w.calm()
}

// A command in a comment requests what its pull request has, and its user gets a reply when that can no longer come.
func TestCommands_promoteIsForThePullRequest(t *testing.T) {
	t.Parallel()
	w := merged(t, asking()) // pull request 1 brought 1.1.0 to staging
	w.decide(state.Freeze("prod", w.act("holidays"), nil))
	id := w.comment(1, "ada", "/promoter promote prod")
	w.run()
	w.wantReactions(id, scm.ReactionDone)
	own := w.state().At(in("prod")).Request
	if own == nil || !strings.HasPrefix(own.For["web"], web+":1.1.0@") {
		t.Fatalf("request: %+v", own)
	}
	w.decide(state.Reject(state.Target{Environment: "staging", Application: "shop"},
		state.Rejection{Act: w.act("broken"), Images: map[string]string{"web": own.For["web"]}}))
	w.run()
	w.wantAnswer(1, "the request for shop in prod ended: staging: web 1.1.0 was rejected by ada")
	w.calm()
}

// A version that is replaced already is not landed on the way: each environment gets the newest one, with one commit.
func TestReconcile_landsNothingOnTheWay(t *testing.T) {
	t.Parallel()
	const chain = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: [dev], land: push}
  prod: {paths: ["prod/{application}.txt"], after: [staging], land: push}
`
	commits := func(w *world, before string) (n int) {
		for id := w.Git.Branch("main"); id != before; n++ {
			commit, err := w.Git.Objects().Commit(id)
			if err != nil {
				t.Fatal(err)
			}
			id = commit.Parents[0]
		}
		return n
	}
	for name, test := range map[string]struct {
		config string
		want   int
	}{
		"directly":              {chain, 3},
		"newer: queue wants it": {strings.Replace(chain, "after: [dev], land: push", "after: [dev], land: push, newer: queue", 1), 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.config)
			w.decide(state.Hold(in("staging"), w.act("")))
			w.pushAndRun(web, "1.1.0")
			w.holds("dev", "1.1.0 1.0.0")
			w.decide(state.Resume(in("staging"), w.act("")))
			before := w.Git.Branch("main")
			w.pushAndRun(web, "1.2.0")
			for _, environment := range []string{"dev", "staging", "prod"} {
				w.holds(environment, "1.2.0 1.0.0")
			}
			if got := commits(w, before); got != test.want {
				t.Errorf("%d commits, want %d", got, test.want)
			}
			w.calm()
		})
	}
	t.Run("what is requested", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, strings.Replace(chain, "after: [dev], land: push", "after: [dev], land: push, propose: manual", 1))
		w.pushAndRun(web, "1.1.0")
		w.decide(state.AddRequest(in("staging"), w.requested("1.1.0")))
		w.pushAndRun(web, "1.2.0")
		w.holds("staging", "1.1.0 1.0.0")
		w.holds("prod", "1.1.0 1.0.0")
		w.calm()
	})
}

// landsOnce are configs in which versions land in other ways than by pushes to one branch.
func landsOnce() map[string]string {
	const chain = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: [dev], land: push}
  prod: {paths: ["prod/{application}.txt"], after: [staging], land: push}
`
	automerge := strings.NewReplacer("after: [dev], land: push", "after: [dev], land: automerge", "[staging], land: push", "[staging], land: automerge")
	branches := strings.NewReplacer("[dev], land: push", "[dev], land: push, branch: staging", "[staging], land: push", "[staging], land: push, branch: prod")
	return map[string]string{
		"by automerge":                       automerge.Replace(chain),
		"all by automerge":                   strings.Replace(automerge.Replace(chain), "dev/{application}.txt\"], land: push", "dev/{application}.txt\"], land: automerge", 1),
		"on a branch each":                   branches.Replace(chain),
		"by automerge on a branch each":      branches.Replace(automerge.Replace(chain)),
		"by automerge, then by a push":       strings.Replace(chain, "after: [dev], land: push", "after: [dev], land: automerge", 1),
		"by automerge, newer: queue":         strings.Replace(automerge.Replace(chain), "[dev], land: automerge", "[dev], land: automerge, newer: queue", 1),
		"on a branch each, newer: queue":     strings.Replace(branches.Replace(chain), "[dev], land: push", "[dev], land: push, newer: queue", 1),
		"on a branch each, newer: drain":     strings.Replace(branches.Replace(chain), "[dev], land: push", "[dev], land: push, newer: drain", 1),
		"on a branch each, one is requested": strings.Replace(branches.Replace(chain), "[dev], land: push", "[dev], land: push, propose: manual", 1),
		"by automerge, one is requested":     strings.Replace(automerge.Replace(chain), "[dev], land: automerge", "[dev], land: automerge, propose: manual", 1),
	}
}

// Also by automerge and on a branch for each environment, a version that is replaced already is not landed on the way:
// several services get one commit and at most one pull request for each environment. What wants the older version gets it.
func TestReconcile_landsOnceByAutomergeAndOnBranches(t *testing.T) {
	t.Parallel()
	services := []string{"shop", "cart", "blog", "mail"}
	for name, config := range landsOnce() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config)
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Services", func(all map[string]string) {
				for _, environment := range []string{"dev", "staging", "prod"} {
					for _, service := range services {
						all[environment+"/"+service+".txt"] = line(web, "1.0.0") + "\n"
					}
				}
			})
			for _, branch := range []string{"staging", "prod"} {
				w.Git.Set(branch, w.Git.Branch("main"))
			}
			branchOf := func(environment string) string {
				if environment != "dev" && strings.Contains(config, "branch: ") {
					return environment
				}
				return "main"
			}
			w.decide(state.Hold(state.Target{Environment: "staging", Application: state.All}, w.act("")))
			w.pushAndRun(web, "1.1.0")
			w.decide(state.Resume(state.Target{Environment: "staging", Application: state.All}, w.act("")))
			requested := strings.Contains(config, "manual")
			if requested {
				w.decide(state.AddRequest(in("staging"), w.requested("1.1.0")))
			}
			heads, pulls := map[string]string{}, len(w.Forge.All())
			for _, branch := range []string{"main", "staging", "prod"} {
				heads[branch] = w.Git.Branch(branch)
			}
			w.pushAndRun(web, "1.2.0")
			landed := map[string]int{} // by file
			for branch, head := range heads {
				for id := w.Git.Branch(branch); id != head; {
					commit, err := w.Git.Objects().Commit(id)
					if err != nil {
						t.Fatal(err)
					}
					changed, err := w.Git.Objects().Changed(commit.Parents[0], id)
					if err != nil {
						t.Fatal(err)
					}
					for _, file := range changed {
						if environment, _, _ := strings.Cut(file, "/"); branchOf(environment) == branch {
							landed[file]++
						}
					}
					id = commit.Parents[0]
				}
			}
			older := strings.Contains(config, "newer: ")
			for _, environment := range []string{"dev", "staging", "prod"} {
				for _, service := range services {
					file, want, version := environment+"/"+service+".txt", 1, "1.2.0"
					switch {
					case requested && environment != "dev" && service == "shop":
						version = "1.1.0"
					case requested && environment != "dev":
						want, version = 0, "1.0.0"
					case older && environment == "staging":
						want = 2
					case older && environment == "prod":
						want = landed[file] // the older one may be replaced before it comes here
					}
					if landed[file] != want {
						t.Errorf("%s landed %d times, want %d", file, landed[file], want)
					}
					if got := w.Git.FilesOf(w.Git.Branch(branchOf(environment)))[file]; got != line(web, version)+"\n" {
						t.Errorf("%s has %s, want %s", file, got, version)
					}
				}
			}
			most := 0
			for _, environment := range []string{"dev", "staging", "prod"} {
				if strings.Contains(config, environment+"/{application}.txt\"], land: automerge") ||
					strings.Contains(config, map[string]string{"dev": "-", "staging": "[dev]", "prod": "[staging]"}[environment]+", land: automerge") {
					most += len(services)
				}
			}
			if n := len(w.Forge.All()) - pulls; !older && n > most {
				t.Errorf("%d pull requests, want %d at most: %v", n, most, w.pulls())
			}
			w.calm()
		})
	}
}
