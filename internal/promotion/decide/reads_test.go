package decide_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/config/trust"
	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// readsTest changes what one row reads, one kind at a time. The decision about the target
// differs each time.
type readsTest struct {
	row     string
	target  string
	see     func(t *testing.T) *decidetest.Scenario
	changes map[input.Reads]func(w *decidetest.Scenario)
	later   time.Duration // than noon, for the change of the time; negative: earlier
}

// Versions with a digest of their own.
const (
	web4 = "web:1.4.0@sha256:4444444444444444444444444444444444444444444444444444444444444444"
	web5 = "web:1.5.0@sha256:5555555555555555555555555555555555555555555555555555555555555555"
	web6 = "web:1.6.0@sha256:6666666666666666666666666666666666666666666666666666666666666666"
)

// dev5 has web 1.5.0 in dev, for an hour, and 1.4.0 in staging.
func dev5(text string) func(t *testing.T) *decidetest.Scenario {
	return func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, text)
		w.Open = map[string]promotion.Open{}
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), web5)
		w.Stands("staging/shop", promotiontest.Ago(9*time.Hour), web4)
		return w
	}
}

// afterDev is Chain with other conditions of staging, and settings of dev.
func afterDev(conditions, dev string) string {
	text := strings.Replace(decidetest.Chain, "after: [dev]", "after: {dev: {"+conditions+"}}", 1)
	return strings.Replace(text, `"dev/{application}"]`, `"dev/{application}"]`+dev, 1)
}

// and returns a scenario with more in it.
func and(see func(t *testing.T) *decidetest.Scenario, all ...func(w *decidetest.Scenario)) func(t *testing.T) *decidetest.Scenario {
	return func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := see(t)
		for _, more := range all {
			more(w)
		}
		return w
	}
}

// rewrite replaces what the files of a target have.
func rewrite(target string, texts ...string) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) {
		w.Targets[w.Target(target)] = promotion.Current{}
		w.Has(target, texts...)
		w.RegistryAnswers(texts...)
	}
}

// open opens a pull request, or changes the one that is open.
func open(branch string, change func(o *promotion.Open)) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) {
		o := w.Open[branch]
		o.Number, o.Head = 7, branch
		change(&o)
		w.Open[branch] = o
	}
}

// everyGate has a newer web in prod, and its pull request, behind every gate.
func everyGate(t *testing.T) *decidetest.Scenario {
	t.Helper()
	return decidetest.Gated(t, promotion.Open{Number: 7, Approvals: []promotion.Approval{{By: "eve"}}, Checks: []promotion.Check{{Name: "ci/a", State: promotion.Passed}}})
}

// withoutChecks is everyGate with a head on which no check has started yet.
func withoutChecks(t *testing.T) *decidetest.Scenario {
	t.Helper()
	return decidetest.Gated(t, promotion.Open{Number: 7, Pushed: promotiontest.Noon})
}

const gatedBranch = "promoter/prod/shop"

// degraded has a snapshot in dev that is degraded for longer than the timeout.
func degraded(conditions string) func(t *testing.T) *decidetest.Scenario {
	return and(dev5(afterDev(conditions, ", health: {api: true, from: pipeline, timeout: 15m}")), func(w *decidetest.Scenario) {
		at := promotiontest.Ago(20 * time.Minute)
		w.Landings[w.Target("dev/shop")][0].Health = health.State{Status: health.Degraded, Since: at, UnhealthySince: at}
	})
}

func becomesHealthy(w *decidetest.Scenario) {
	at := promotiontest.Ago(20 * time.Minute)
	w.Landings[w.Target("dev/shop")][0].Health = health.State{Status: health.Healthy, Since: at, HealthySince: at}
}

func decides(change func(w *decidetest.Scenario) state.Change) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) { w.Decides(change(w)) }
}

func reject(target, text string) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) { w.Reject(target, text) }
}

func request(target, login string) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) { w.Request(target, login) }
}

func publish(texts ...string) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) { w.Publish(texts...) }
}

func webFact(tag, digest string) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) { w.AddFact("web", tag, image.Version{Tag: tag, Digest: digest}) }
}

func nothing(*decidetest.Scenario) {}

func post(target, component, digest string) func(w *decidetest.Scenario) {
	return decides(func(w *decidetest.Scenario) state.Change {
		r := state.Request{Act: promotiontest.ByAda(""), Posted: "shop-1"}
		return state.Post(w.StateTarget(target), r, []state.Version{{Component: component, Digest: digest}})
	})
}

// pushed is a chain of environments that are pushed to.
const pushed = promotiontest.Components + `
environments:
  dev: {paths: ["dev/{application}"], land: push}
  staging: {paths: ["staging/{application}"], after: [dev], land: push}
`

// requestFor requests a promotion to staging.
func requestFor(r state.Request) func(w *decidetest.Scenario) {
	r.Act = promotiontest.ByAda("")
	return decides(func(w *decidetest.Scenario) state.Change { return state.AddRequest(w.StateTarget("staging/shop"), r) })
}

// explicitly lets the registry answer what a request names.
func explicitly(target, text string) func(w *decidetest.Scenario) {
	return func(w *decidetest.Scenario) {
		w.Explicit = map[promotion.Target]map[string]promotion.Available{
			w.Target(target): {"web": {Version: promotiontest.Pinned(text)["web"].Version, Found: true, Explicit: true}},
		}
	}
}

func readsTests() []readsTest {
	web := promotiontest.Repository("web")
	releases := strings.Replace(decidetest.Chain, `web, select: {semver: ">=1"}`, `web, select: {release: github/acme/web}`, 1)
	released := promotion.Fact{Repository: web, Tag: "1.5.0", Release: "github/acme/web"}
	drains := func(newer string) string { return afterDev("soak: 24h", ", land: push, newer: "+newer) }
	freeze := decides(func(*decidetest.Scenario) state.Change {
		until := promotiontest.Noon.Add(time.Hour)
		return state.Freeze("staging", promotiontest.ByAda(""), &until)
	})
	hold := decides(func(w *decidetest.Scenario) state.Change {
		return state.Hold(w.StateTarget("staging/shop"), promotiontest.ByAda(""))
	})
	rollback := decides(func(w *decidetest.Scenario) state.Change {
		return state.Rollback(w.StateTarget("dev/shop"), state.RolledBack{Act: promotiontest.ByAda("slow"), Images: promotiontest.Images(web4)})
	})
	openWeb := func(branch, text string) func(w *decidetest.Scenario) {
		return open(branch, func(o *promotion.Open) { o.Snapshots = promotiontest.SnapshotsOf("shop", text) })
	}
	bypasses := func(w *decidetest.Scenario) {
		r := state.Request{Act: promotiontest.ByAda("incident"), Bypass: []string{"soak"}}
		w.Decides(state.AddRequest(w.StateTarget("staging/shop"), r))
		w.Bypasses = map[promotion.Target][]promotion.Bypass{w.Target("staging/shop"): {{Request: r}}}
	}
	return []readsTest{
		{
			row: "target", target: "dev/shop",
			see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) {
				w.Publish(web6)
				openWeb("promoter/dev/shop", web6)(w)
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Files:         rewrite("dev/shop", web6),
				input.Registry:      publish(web5),
				input.UserDecisions: request("dev/shop", "ada"),
				input.PullRequest:   func(w *decidetest.Scenario) { w.Approve("promoter/dev/shop", "eve") },
			},
		},
		{
			row: "sources", target: "staging/shop", see: dev5(decidetest.Soaking),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.OtherTargets: rewrite("dev/shop", web4),
				input.Past:         func(w *decidetest.Scenario) { w.Landings[w.Target("dev/shop")][0].At = promotiontest.Noon },
			},
		},
		{
			row: "request", target: "staging/shop", see: and(dev5(afterDev("soak: 2h", "")), bypasses),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Forge: func(w *decidetest.Scenario) { w.Bypasses = nil }},
		},
		{
			row: "user decision", target: "staging/shop", see: dev5(decidetest.Chain),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.UserDecisions: reject("staging/shop", web5),
				input.Past: func(w *decidetest.Scenario) {
					w.Reverted[w.Target("staging/shop")] = []promotion.Reversion{{Component: "web", Version: promotiontest.Pinned(web5)["web"].Version}}
				},
			},
		},
		{
			row: "hold", target: "staging/shop", see: dev5(decidetest.Chain),
			changes: map[input.Reads]func(*decidetest.Scenario){input.UserDecisions: hold},
		},
		{
			row: "end of a freeze", target: "staging/shop", see: and(dev5(decidetest.Chain), freeze), later: 2 * time.Hour,
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "end of a freeze", target: "staging/shop", later: 2 * time.Hour, // where it is only a note
			see:     and(and(dev5(decidetest.Chain), rewrite("staging/shop", web5)), freeze),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "healthy", target: "staging/shop", see: degraded("healthy: true"), later: -10 * time.Minute,
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Health: becomesHealthy, input.Time: nothing, input.UserDecisions: request("dev/shop", "ada"),
			},
		},
		{
			row: "soak", target: "staging/shop", see: degraded("soak: 1h"), later: -10 * time.Minute,
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Health: becomesHealthy, input.Time: nothing, input.UserDecisions: request("dev/shop", "ada"),
			},
		},
		{
			row: "checks", target: "staging/shop",
			see: and(dev5(afterDev(`checks: ["e2e/*"]`, "")), func(w *decidetest.Scenario) {
				w.Landings[w.Target("dev/shop")][0].Checks = []promotion.Check{{Name: "e2e/a", State: promotion.Passed}}
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Forge: func(w *decidetest.Scenario) {
				w.Landings[w.Target("dev/shop")][0].Checks = []promotion.Check{{Name: "e2e/a", State: promotion.Failed}}
			}},
		},
		{
			row: "tagged", target: "staging/shop", see: and(dev5(afterDev("tagged: stable", "")), webFact("stable", promotiontest.Digest("5"))),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Registry: webFact("stable", promotiontest.Digest("9"))},
		},
		{
			row: "settle", target: "dev/shop", later: time.Hour,
			see: and(dev5(settling), func(w *decidetest.Scenario) {
				w.Publish(web6)
				version := promotiontest.Pinned(web6)["web"].Version
				w.Decides(state.FirstAvailable(w.StateTarget("dev/shop"), state.Version{
					Component: "web", Tag: version.Tag, Digest: version.Digest, At: promotiontest.Ago(time.Minute),
				}))
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Time:          nothing,
				input.UserDecisions: func(w *decidetest.Scenario) { w.State = state.State{} },
			},
		},
		{
			row: "same version", target: "dev/shop",
			see: func(t *testing.T) *decidetest.Scenario {
				t.Helper()
				withoutMoving := strings.Replace(decidetest.Chain, "  moving: {image: quay.io/acme/moving, select: {tag: released}, pin: tag+digest}\n", "", 1)
				w := decidetest.New(t, withoutMoving+`applications: {"*": {sameVersion: true}}`)
				w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:1.4.0@"+promotiontest.Digest("a"))
				w.Publish(web5)
				return w
			},
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Files: rewrite("dev/shop", web4, "worker:1.5.0@"+promotiontest.Digest("b")),
			},
		},
		{
			row: "drain", target: "dev/shop", see: and(dev5(drains("drain")), publish(web6)),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.UserDecisions: reject("dev/shop", web5),
				input.OtherTargets:  rewrite("staging/shop", web5),
			},
		},
		{
			row: "starved soak", target: "staging/shop", later: 25 * time.Hour,
			see: and(dev5(drains("refresh")), func(w *decidetest.Scenario) {
				w.Landed("dev/shop", promotiontest.Ago(2*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.2@"+promotiontest.Digest("2"))
				w.Landed("dev/shop", promotiontest.Ago(3*time.Hour), promotiontest.Ago(2*time.Hour), "web:1.4.1@"+promotiontest.Digest("1"))
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "image", target: "staging/shop", see: and(dev5(decidetest.Chain), webFact("1.5.0", promotiontest.Digest("9"))),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Registry: webFact("1.5.0", promotiontest.Digest("5")),
				input.UserDecisions: decides(func(w *decidetest.Scenario) state.Change {
					return state.Observe(w.StateTarget("dev/shop"), state.Observed{Repository: web.String(), Tag: "1.5.0", Digest: promotiontest.Digest("5")})
				}),
			},
		},
		{
			row: "admission", target: "staging/shop", see: dev5(releases),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Registry:      func(w *decidetest.Scenario) { w.Facts[released] = image.Version{} },
				input.UserDecisions: post("dev/shop", "web", promotiontest.Digest("5")),
			},
		},
		{
			row: "signature", target: "staging/shop",
			see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) { w.Verify = map[string][]trust.Requirement{"web": {{}}} }),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Registry: func(w *decidetest.Scenario) {
				w.AddFact("web", "1.5.0", image.Version{Digest: promotiontest.Digest("5"), Signature: image.Signature{By: "ada"}})
			}},
		},
		{
			row: "mirrored", target: "prod/shop",
			see: func(t *testing.T) *decidetest.Scenario {
				t.Helper()
				w := decidetest.New(t, mirrorChain)
				w.Stands("dev/shop", promotiontest.Ago(time.Hour), web5)
				w.Stands("prod/shop", promotiontest.Ago(time.Hour), web4)
				throughMirror(w, "prod/shop")
				return w
			},
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Registry: func(w *decidetest.Scenario) { inMirror(w, "", promotiontest.Digest("5")) },
			},
		},
		{row: "limited settings", target: "prod/shop", see: everyGate},
		{
			row: "hold gate", target: "dev/shop",
			see: and(dev5(afterDev("", `, gates: {hold: {key: spec.suspend, value: "true"}}`)), publish(web6)),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Files: func(w *decidetest.Scenario) {
				current := w.Targets[w.Target("dev/shop")]
				current.Holds = []edit.Hold{{Position: edit.Position{File: "dev/shop", Line: 3}, Key: "spec.suspend", Value: "true"}}
				w.Targets[w.Target("dev/shop")] = current
			}},
		},
		{
			row: "check gates", target: "prod/shop", see: withoutChecks, later: promotion.StartOfChecks,
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "protection", target: "prod/shop", see: and(withoutChecks, func(w *decidetest.Scenario) {
				w.Protected = map[string]promotion.Protection{"": {Branch: "main", Rules: scm.Rules{Checks: []string{"ci"}}}}
			}), later: promotion.StartOfChecks,
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "windows", target: "prod/shop", see: everyGate, later: 2 * time.Hour,
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "check gates", target: "prod/shop", see: everyGate,
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.PullRequest: open(gatedBranch, func(o *promotion.Open) { o.Checks[0].State = promotion.Failed }),
			},
		},
		{
			row: "approvals", target: "prod/shop", see: everyGate,
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.PullRequest:   open(gatedBranch, func(o *promotion.Open) { o.Objections = []string{"ben"} }),
				input.UserDecisions: request("prod/shop", "eve"),
			},
		},
		{
			row: "draft", target: "prod/shop", see: everyGate,
			changes: map[input.Reads]func(*decidetest.Scenario){input.PullRequest: open(gatedBranch, func(o *promotion.Open) { o.Draft = true })},
		},
		{
			row: "protection", target: "prod/shop", see: everyGate,
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.PullRequest: open(gatedBranch, func(o *promotion.Open) { o.Refused = &promotion.Refusal{Words: "no"} }),
			},
		},
		{
			row: "from registry", target: "dev/shop", see: and(dev5(decidetest.Chain), publish("web:nightly@"+promotiontest.Digest("9"))),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Registry:      publish(web6),
				input.UserDecisions: post("dev/shop", "web", promotiontest.Digest("5")),
			},
		},
		{
			row: "from parents", target: "staging/shop", see: dev5(decidetest.Chain),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.OtherTargets:  rewrite("dev/shop", web6),
				input.UserDecisions: reject("dev/shop", web5),
			},
		},
		{
			row: "from parents", target: "staging/shop", see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) {
				w.Landings[w.Target("dev/shop")] = nil
				rewrite("dev/shop", "web:1.7.0")(w)
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Registry: webFact("1.7.0", "")},
		},
		{
			row: "from request", target: "staging/shop",
			see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) {
				version := promotiontest.Pinned(web6)["web"].Version
				w.Explicit = map[promotion.Target]map[string]promotion.Available{
					w.Target("staging/shop"): {"web": {Version: version, Found: true, Explicit: true}},
				}
				r := state.Request{Act: promotiontest.ByAda(""), With: []string{"quay.io/acme/web:1.6.0"}}
				w.Decides(state.AddRequest(w.StateTarget("staging/shop"), r))
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Registry:     func(w *decidetest.Scenario) { w.Explicit = nil },
				input.OtherTargets: rewrite("dev/shop", web6), // it is no longer behind
			},
		},
		{
			row: "end of a request", target: "staging/shop",
			see: and(dev5(manual), rewrite("dev/shop", web6), requestFor(state.Request{For: promotiontest.Images(web5)})),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.OtherTargets:  rewrite("dev/shop", web5), // it does not end
				input.UserDecisions: reject("staging/shop", web5),
			},
		},
		{
			row: "end of a request", target: "staging/shop",
			see: and(dev5(decidetest.Chain), explicitly("staging/shop", web6),
				requestFor(state.Request{With: []string{"quay.io/acme/web:1.6.0"}, For: promotiontest.Images(web6)})),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Registry: explicitly("staging/shop", "web:1.6.0@"+promotiontest.Digest("e")),
			},
		},
		{
			row: "on the way", target: "staging/shop", see: and(dev5(pushed), publish(web6)),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.OtherTargets:  rewrite("dev/shop", web6), // it does not move on
				input.UserDecisions: reject("staging/shop", web6),
			},
		},
		{
			row: "from rollback", target: "dev/shop",
			see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) {
				w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), web4)
				rollback(w)
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.UserDecisions: func(w *decidetest.Scenario) { w.State = state.State{} },
				input.Past: func(w *decidetest.Scenario) {
					w.Landings[w.Target("dev/shop")] = w.Landings[w.Target("dev/shop")][:1]
				},
				input.Registry: func(w *decidetest.Scenario) {
					w.Facts[promotion.Fact{Repository: web, Tag: "1.4.0", Digest: promotiontest.Digest("4")}] = image.Version{Created: promotiontest.Noon}
				},
			},
		},
		{
			row: "newer", target: "dev/shop", see: and(and(dev5(decidetest.Chain), publish("web:1.7.0@"+promotiontest.Digest("7"))), openWeb("promoter/dev/shop", web6)),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.PullRequest: func(w *decidetest.Scenario) { w.Approve("promoter/dev/shop", "eve") },
			},
		},
		{
			row: "newer", target: "dev/shop", later: time.Hour,
			see: and(and(dev5(afterDev("", ", gates: {checks: [ci]}")), publish("web:1.7.0@"+promotiontest.Digest("7"))), openWeb("promoter/dev/shop", web6),
				open("promoter/dev/shop", func(o *promotion.Open) { o.Pushed = promotiontest.Noon })),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: nothing},
		},
		{
			row: "disposition", target: "staging/shop", see: and(and(dev5(decidetest.Chain), openWeb("promoter/staging/shop", web5)), hold),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.PullRequest:   openWeb("promoter/staging/shop", web4),
				input.UserDecisions: reject("staging/shop", web5),
				input.Past:          func(w *decidetest.Scenario) { w.Landings[w.Target("dev/shop")][0].Reverted = true },
			},
		},
		{
			row: "disposition", target: "staging/shop",
			see: and(and(dev5(decidetest.Chain), openWeb("promoter/staging/shop", web6)), func(w *decidetest.Scenario) {
				w.Landings[w.Target("dev/shop")] = nil
				rewrite("dev/shop", web4)(w)
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){input.OtherTargets: rewrite("dev/shop", web6)},
		},
		{
			row: "health", target: "dev/shop", see: degraded("healthy: true"), later: -10 * time.Minute,
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Health: becomesHealthy, input.Time: nothing, input.UserDecisions: request("dev/shop", "ada"),
			},
		},
		{
			row: "false claims", target: "dev/shop", see: dev5(decidetest.Chain),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Past: func(w *decidetest.Scenario) {
				w.Falsified = map[promotion.Target][]promotion.Reason{w.Target("dev/shop"): {{Message: "a false claim"}}}
			}},
		},
		{
			row: "rejected here", target: "dev/shop", see: and(dev5(decidetest.Chain), reject("dev/shop", web5)),
			changes: map[input.Reads]func(*decidetest.Scenario){
				input.Past:          func(w *decidetest.Scenario) { w.Landings[w.Target("dev/shop")][0].ByUser = true },
				input.UserDecisions: func(w *decidetest.Scenario) { w.State = state.State{} },
			},
		},
		{
			row: "pending upstream", target: "staging/shop", see: and(and(dev5(decidetest.Chain), rewrite("staging/shop", web5)), publish(web6)),
			changes: map[input.Reads]func(*decidetest.Scenario){input.OtherTargets: rewrite("dev/shop", web6)},
		},
		{
			row: "proposal", target: "prod/shop",
			see: func(t *testing.T) *decidetest.Scenario { t.Helper(); return decidetest.Gated(t, promotion.Open{}) },
			changes: map[input.Reads]func(*decidetest.Scenario){input.Forge: func(w *decidetest.Scenario) {
				w.Protected = map[string]promotion.Protection{"": {Branch: "main", Rules: scm.Rules{Queue: true}}}
			}},
		},
		{
			row: "missing answer", target: "dev/shop",
			see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) {
				w.Available["web"] = promotion.Available{Err: errors.New("down")}
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: publish(web5)}, // the retry is answered
		},
		{
			row: "young version", target: "dev/shop",
			see: and(dev5(decidetest.Chain), func(w *decidetest.Scenario) {
				w.Available["web"] = promotion.Available{Held: []promotion.HeldVersion{{Version: promotiontest.Pinned(web6)["web"].Version}}}
			}),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Time: publish(web6)}, // it is old enough
		},
		{
			row: "releases", target: "dev/shop", see: and(dev5(releases), publish(web5)),
			changes: map[input.Reads]func(*decidetest.Scenario){input.Forge: publish(web6)}, // which is released
		},
	}
}

// A decision that is kept is made again where a row declares what changed. So each kind that a row
// declares is changed here, and each row must have its changes.
func TestRows_declareWhatTheyRead(t *testing.T) {
	t.Parallel()
	declared := map[string]input.Reads{}
	for _, row := range decide.Rows() {
		if _, twice := declared[row.Name]; twice {
			t.Errorf("two rows are named %s", row.Name)
		}
		declared[row.Name] = row.Reads
	}
	tested := map[string]input.Reads{}
	for _, test := range readsTests() {
		reads := tested[test.row]
		for kind := range test.changes {
			reads |= kind
		}
		tested[test.row] = reads
	}
	for name, reads := range declared {
		if changed, known := tested[name]; !known || changed != reads {
			t.Errorf("%s: declares %q, changed by the tests %q", name, reads, changed)
		}
	}
	for name := range tested {
		if _, known := declared[name]; !known {
			t.Errorf("no row is named %s", name)
		}
	}
}

func TestRows_decisionsDifferByWhatTheyRead(t *testing.T) {
	t.Parallel()
	for _, test := range readsTests() {
		plan := func(t *testing.T, w *decidetest.Scenario, now time.Time) (promotion.Decision, input.Reads) {
			t.Helper()
			target := w.Target(test.target)
			decisions, reads := w.PlanReads(now)
			i := slices.IndexFunc(decisions, func(d promotion.Decision) bool { return d.Target == target })
			return decisions[i], reads[target.Application]
		}
		for kind, change := range test.changes {
			t.Run(test.row+"/"+kind.String(), func(t *testing.T) {
				t.Parallel()
				before, reads := plan(t, test.see(t), promotiontest.Noon)
				w, now := test.see(t), promotiontest.Noon
				change(w)
				if kind == input.Time {
					now = now.Add(test.later)
				}
				after, readsAfter := plan(t, w, now)
				if reflect.DeepEqual(before, after) {
					t.Errorf("the decision does not differ: %s: %s", before.State, before.Reason)
				}
				if !reads.Has(kind) {
					t.Errorf("the decision reads %s", reads)
				}
				if undeclared := reads.Undeclared() | readsAfter.Undeclared(); undeclared != 0 {
					t.Errorf("undeclared: %s", undeclared)
				}
			})
		}
	}
}

// A check of a parent is read whatever it reported: one that failed passes again.
func TestRows_checkThatFailedIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, reported := range []promotion.ConditionState{promotion.Passed, promotion.Failed} {
		w := dev5(afterDev(`checks: ["e2e/*"]`, ""))(t)
		w.Landings[w.Target("dev/shop")][0].Checks = []promotion.Check{{Name: "e2e/a", State: reported}}
		if _, reads := w.PlanReads(promotiontest.Noon); !reads["shop"].ChangesUnseen() {
			t.Errorf("%s: reads %s", reported, reads["shop"])
		}
	}
}

// Most targets have what they want: nothing of them changes unseen, so an event costs only what it
// touches.
func TestPlanReads_settledTargetsChangeByWhatIsCompared(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, afterDev("soak: 1h", ", gates: {checks: [ci]}"))
	for _, target := range []string{"dev/shop", "staging/shop", "prod/shop"} {
		w.Stands(target, promotiontest.Ago(time.Hour), web5)
	}
	w.Publish(web5)
	w.Decides(state.Freeze("dev", promotiontest.ByAda(""), nil))
	if _, reads := w.PlanReads(promotiontest.Noon); reads["shop"].ChangesUnseen() {
		t.Errorf("reads %s", reads["shop"])
	}
}
