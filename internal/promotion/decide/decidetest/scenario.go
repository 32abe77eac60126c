// Package decidetest builds observations for tests in a few words, and decides about them.
package decidetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// Chain is a config of three environments in a row without conditions.
const Chain = promotiontest.Components + `
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
  prod: {paths: ["prod/{application}"], after: [staging]}
`

// EveryGate is a config of one environment with every gate.
const EveryGate = promotiontest.Components + `
windows:
  office: {kind: allow, schedule: "0 9 * * 1-5", duration: 8h, timeZone: Europe/Berlin}
  lunch: {kind: deny, schedule: "0 12 * * *", duration: 1h, timeZone: Europe/Berlin}
environments:
  prod:
    paths: ["prod/{application}"]
    land: automerge
    gates: {windows: [office, lunch], checks: ["ci/*", lint], approvals: {count: 2, from: ["team:acme/sre", eve]}}
`

// Scenario builds an observation.
type Scenario struct {
	T *testing.T
	promotion.Observation
}

// NewCheckout returns a scenario of a checkout.
func NewCheckout(t *testing.T, text string) *Scenario {
	t.Helper()
	return CheckoutOf(t, promotiontest.Load(t, text))
}

// CheckoutOf returns a scenario of a checkout with a config.
func CheckoutOf(t *testing.T, c *config.Config) *Scenario {
	t.Helper()
	w := &Scenario{T: t, Observation: promotion.Observation{
		Config:      c,
		Targets:     map[promotion.Target]promotion.Current{},
		Unavailable: map[string]string{},
		Available:   map[string]promotion.Available{},
		Policies:    map[string]*image.Policy{},
		Facts:       promotion.Facts{},
		Requested:   map[string]bool{},
		Checkout:    true,
	}}
	for _, component := range c.Components {
		w.Policies[component.Name] = c.Policy(component.Name)
	}
	return w
}

// Has adds references, written COMPONENT:TAG@DIGEST, to ENVIRONMENT/APPLICATION.
func (w *Scenario) Has(target string, references ...string) {
	at := w.Target(target)
	present := w.Targets[at]
	for _, text := range references {
		component, rest, _ := strings.Cut(text, ":")
		v := promotiontest.Version(rest)
		present.References = append(present.References, edit.Reference{
			Component: component, Repository: promotiontest.Repository(component), Tag: v.Tag, Digest: v.Digest,
		})
	}
	w.Targets[at] = present
}

// Pins sets the form that pin requires of all references of a target, if they have another.
func (w *Scenario) Pins(target string, form edit.Form) {
	references := w.Targets[w.Target(target)].References
	for i := range references {
		r := &references[i]
		if r.Form = form; form == (edit.Form{Tag: r.Tag != "", Digest: r.Digest != ""}) {
			r.Form = edit.Form{}
		}
	}
}

// Target splits ENVIRONMENT/APPLICATION.
func (w *Scenario) Target(text string) promotion.Target {
	environment, application, ok := strings.Cut(text, "/")
	if !ok {
		application = config.DefaultApplication
	}
	return promotion.Target{Environment: environment, Application: application}
}

// Publish makes versions available, written COMPONENT:TAG@DIGEST.
func (w *Scenario) Publish(texts ...string) {
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		w.Available[component] = promotion.Available{Version: promotiontest.Version(rest), Found: true}
	}
}

// Name makes versions explicit, as --with does.
func (w *Scenario) Name(texts ...string) {
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		w.Available[component] = promotion.Available{Version: promotiontest.Version(rest), Found: true, Explicit: true}
	}
}

// AddFact adds what a registry reports about a tag.
func (w *Scenario) AddFact(component, tag string, v image.Version) {
	w.Facts[promotion.Fact{Repository: promotiontest.Repository(component), Tag: tag}] = v
}

// PlanReads decides, and returns what the decisions read.
func (w *Scenario) PlanReads(now time.Time) ([]promotion.Decision, map[string]input.Reads) {
	w.T.Helper()
	decisions, reads, err := decide.PlanReads(w.T.Context(), w.Observation, now)
	if err != nil {
		w.T.Fatal(err)
	}
	return decisions, reads
}

// Plan decides, and fails the test if a row read what it does not declare.
func (w *Scenario) Plan(now time.Time) []promotion.Decision {
	w.T.Helper()
	decisions, reads := w.PlanReads(now)
	for application, read := range reads {
		if kinds := read.Undeclared(); kinds != 0 {
			w.T.Errorf("a row of the decisions about %s reads undeclared: %s", application, kinds)
		}
	}
	return decisions
}

// Decide plans and returns the decision about one target.
func (w *Scenario) Decide(target string) promotion.Decision {
	w.T.Helper()
	decisions := w.Plan(promotiontest.Noon)
	at := w.Target(target)
	i := slices.IndexFunc(decisions, func(d promotion.Decision) bool { return d.Target == at })
	if i < 0 {
		w.T.Fatalf("no decision for %s in %v", target, decisions)
	}
	return decisions[i]
}

// Expect compares the state and the message of a decision.
func (w *Scenario) Expect(target string, state promotion.State, reason string) promotion.Decision {
	w.T.Helper()
	d := w.Decide(target)
	if d.State != state || d.Reason.Message != reason {
		w.T.Errorf("%s: %s: %s\nwant %s: %s", target, d.State, d.Reason, state, reason)
	}
	return d
}

// New returns a scenario with a history of landings, in which decisions are carried
// out.
func New(t *testing.T, text string) *Scenario {
	t.Helper()
	return Of(t, promotiontest.Load(t, text))
}

// Of returns the decision about a target.
func Of(t *testing.T, c *config.Config) *Scenario {
	t.Helper()
	w := CheckoutOf(t, c)
	w.Checkout = false
	w.Landings = map[promotion.Target][]promotion.Landing{}
	w.Reverted = map[promotion.Target][]promotion.Reversion{}
	return w
}

// Landed adds a landing; call it from the newest to the oldest. The registry still
// has the images.
func (w *Scenario) Landed(target string, at, until time.Time, texts ...string) *promotion.Landing {
	w.RegistryAnswers(texts...)
	p := w.Target(target)
	w.Landings[p] = append(w.Landings[p], promotion.Landing{Commit: "c0ffee", Snapshot: promotiontest.Pinned(texts...), At: at, Until: until})
	return &w.Landings[p][len(w.Landings[p])-1]
}

// Stands sets the current versions of a target, in its files and trailers.
func (w *Scenario) Stands(target string, at time.Time, texts ...string) *promotion.Landing {
	w.Has(target, texts...)
	return w.Landed(target, at, time.Time{}, texts...)
}

// RegistryAnswers adds the digests of tags, and reports images as existing.
func (w *Scenario) RegistryAnswers(texts ...string) {
	for component, pinned := range promotiontest.Pinned(texts...) {
		v := pinned.Version
		fact := promotion.Fact{Repository: pinned.Repository, Tag: v.Tag}
		if _, known := w.Facts[fact]; !known && v.Digest != "" && v.Tag != "" {
			w.Facts[fact] = image.Version{Digest: v.Digest}
		}
		if component == "moving" || v.Tag == "" {
			fact.Digest = v.Digest
			w.Facts[fact] = image.Version{Digest: v.Digest}
		}
	}
}

// Decides applies changes to the state without validation.
func (w *Scenario) Decides(changes ...state.Change) {
	for _, change := range changes {
		w.State = change(w.State)
	}
}

// StateTarget returns a target as the state names it.
func (w *Scenario) StateTarget(target string) state.Target { return state.Target(w.Target(target)) }

// Soaking is a config with a soak of an hour before staging.
const Soaking = promotiontest.Components + `
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 1h}}}
  prod: {paths: ["prod/{application}"], after: [staging]}
`

// WithForge adds an empty forge.
func (w *Scenario) WithForge() *Scenario {
	w.Checkout = false
	w.Open = map[string]promotion.Open{}
	w.Landings = map[promotion.Target][]promotion.Landing{}
	w.Reverted = map[promotion.Target][]promotion.Reversion{}
	return w
}

// OpenPullRequest opens a pull request of promoter on a branch.
func (w *Scenario) OpenPullRequest(branch string, number int, snapshots map[string]promotion.Snapshot) promotion.Open {
	open := promotion.Open{Number: number, Head: branch, Commit: "c0ffee", Snapshots: snapshots, Opened: promotiontest.Noon.Add(-time.Hour)}
	w.Open[branch] = open
	return open
}

// ChangeState applies changes to the state.
func (w *Scenario) ChangeState(changes ...state.Change) {
	w.T.Helper()
	changed, err := w.State.Apply(changes...)
	if err != nil {
		w.T.Fatal(err)
	}
	w.State = changed
}

// Request adds the request of a user for a target.
func (w *Scenario) Request(target, login string) {
	w.ChangeState(state.AddRequest(state.Target(w.Target(target)), state.Request{Act: promotiontest.ActOf(login)}))
}

// Reject adds a rejection of COMPONENT:TAG@DIGEST in a target.
func (w *Scenario) Reject(target string, texts ...string) {
	images := map[string]string{}
	for component, pinned := range promotiontest.SnapshotOf(texts...) {
		images[component] = pinned.Reference()
	}
	w.ChangeState(state.Reject(state.Target(w.Target(target)), state.Rejection{Act: promotiontest.ActOf("ada"), Images: images}))
}

// ErrDown is the error of a registry that does not respond.
var ErrDown = errors.New("down")

// Digests of the images in scenarios.
const (
	DigestC = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
	DigestD = "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
)

// Stood adds a landing that lasted from AGO until UNTIL before noon, the newest
// first; 0: it is current. The registry still has the images.
func (w *Scenario) Stood(target string, ago, until time.Duration, texts ...string) {
	w.RegistryHas(texts...)
	landing := promotion.Landing{Commit: "c0ffee", Snapshot: promotiontest.SnapshotOf(texts...), At: promotiontest.Noon.Add(-ago)}
	if until > 0 {
		landing.Until = promotiontest.Noon.Add(-until)
	}
	at := w.Target(target)
	w.Landings[at] = append(w.Landings[at], landing)
}

// RegistryHas adds the digests of tags.
func (w *Scenario) RegistryHas(texts ...string) {
	for component, pinned := range promotiontest.SnapshotOf(texts...) {
		w.AddFact(component, pinned.Version.Tag, pinned.Version)
	}
}

// Approve adds an approval.
func (w *Scenario) Approve(branch string, by ...string) {
	open := w.Open[branch]
	for _, login := range by {
		open.Approvals = append(open.Approvals, promotion.Approval{By: login})
	}
	w.Open[branch] = open
}

// Asked returns the lookups of the registries.
func (w *Scenario) Asked() []promotion.Lookup {
	w.T.Helper()
	lookups, err := decide.Lookups(w.T.Context(), w.Observation)
	if err != nil {
		w.T.Fatal(err)
	}
	return lookups
}

// Lookups returns the lookups as text.
func (w *Scenario) Lookups() []string {
	var texts []string
	for _, q := range w.Asked() {
		text := q.Repository.Name() + ":" + q.Tag
		if q.Digest != "" {
			text += "@" + promotion.ShortDigest(q.Digest)
		}
		if q.Created {
			text += " created"
		}
		texts = append(texts, text)
	}
	return texts
}

// LargeObservation has five environments of 2,000 applications.
func LargeObservation(b *testing.B) promotion.Observation {
	b.Helper()
	text := "version: 1\ncomponents:\n  all: {image: quay.io/acme/**, select: {semver: '>=1'}}\nenvironments:\n"
	for i := range 5 {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(", after: {env%d: {soak: 30m}}", i-1)
		}
		text += fmt.Sprintf("  env%d: {paths: ['env%d/{application}']%s}\n", i, i, after)
	}
	loaded, problems := config.Load("bench", []byte(text))
	if err := problems.Err(); err != nil {
		b.Fatal(err)
	}
	observation := promotion.Observation{
		Config: loaded, Checkout: true,
		Targets:   map[promotion.Target]promotion.Current{},
		Available: map[string]promotion.Available{},
		Policies:  map[string]*image.Policy{},
		Facts:     promotion.Facts{},
	}
	for app := range 2000 {
		component := fmt.Sprintf("app-%04d", app)
		observation.Available[component] = promotion.Available{Version: promotiontest.Version("1.5.0@" + promotiontest.DigestB), Found: true}
		observation.Policies[component] = loaded.Policy("all")
		for env := range 5 {
			target := promotion.Target{Environment: fmt.Sprintf("env%d", env), Application: component}
			observation.Targets[target] = promotion.Current{References: []edit.Reference{
				{Component: component, Repository: promotiontest.Repository(component), Tag: fmt.Sprintf("1.%d.0", 4-env)},
				{Component: component, Repository: promotiontest.Repository(component), Tag: fmt.Sprintf("1.%d.0", 4-env)},
			}}
		}
	}
	return observation
}

// Gated has a newer web in prod and its open pull request.
func Gated(t *testing.T, open promotion.Open) *Scenario {
	t.Helper()
	w := NewCheckout(t, EveryGate).WithForge()
	w.Has("prod/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	if open.Number > 0 {
		open.Head = "promoter/prod/shop"
		open.Snapshots = map[string]promotion.Snapshot{"shop": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)}
		w.Open[open.Head] = open
	}
	return w
}
