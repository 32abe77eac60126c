package promotion_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// noon is a working day in Berlin, outside every clock change.
var noon = time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// components is the head of the config of most tests.
const components = `
version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
  moving: {image: quay.io/acme/moving, select: {tag: released}, pin: tag+digest}
`

// chain is three environments after each other without conditions.
const chain = components + `
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
  prod: {paths: ["prod/{application}"], after: [staging]}
`

// world builds an observation in the words of the tests.
type world struct {
	t *testing.T
	promotion.Observation
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	return worldOf(t, loaded(t, text))
}

func loaded(t *testing.T, text string) *config.Config {
	t.Helper()
	c, problems := config.Load(config.FolderEnvironment, []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

func worldOf(t *testing.T, c *config.Config) *world {
	t.Helper()
	w := &world{t: t, Observation: promotion.Observation{
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

// version reads TAG, @DIGEST or TAG@DIGEST.
func version(text string) image.Version {
	tag, digest, _ := strings.Cut(text, "@")
	return image.Version{Tag: tag, Digest: digest, Version: tag}
}

func repository(component string) image.Repository {
	r, err := image.ParseRepository("quay.io/acme/" + component)
	if err != nil {
		panic(err)
	}
	return r
}

// has puts references, written COMPONENT:TAG@DIGEST, into ENVIRONMENT/APPLICATION.
func (w *world) has(target string, references ...string) {
	at := w.place(target)
	present := w.Targets[at]
	for _, text := range references {
		component, rest, _ := strings.Cut(text, ":")
		v := version(rest)
		present.References = append(present.References, edit.Reference{
			Component: component, Repository: repository(component), Tag: v.Tag, Digest: v.Digest,
		})
	}
	w.Targets[at] = present
}

func (w *world) place(text string) promotion.Target {
	environment, application, ok := strings.Cut(text, "/")
	if !ok {
		application = config.DefaultApplication
	}
	return promotion.Target{Environment: environment, Application: application}
}

// offers says what the registry has, written COMPONENT:TAG@DIGEST.
func (w *world) offers(texts ...string) {
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		w.Available[component] = promotion.Available{Version: version(rest), Found: true}
	}
}

// given says what a person named.
func (w *world) given(texts ...string) {
	for _, text := range texts {
		component, rest, _ := strings.Cut(text, ":")
		w.Available[component] = promotion.Available{Version: version(rest), Found: true, Explicit: true}
	}
}

// fact says what a registry tells of a tag in a file.
func (w *world) fact(component, tag string, v image.Version) {
	w.Facts[promotion.Fact{Repository: repository(component), Tag: tag}] = v
}

// decide plans and returns the decision of one place.
func (w *world) decide(target string) promotion.Decision {
	w.t.Helper()
	decisions := promotion.Plan(w.Observation, noon)
	at := w.place(target)
	i := slices.IndexFunc(decisions, func(d promotion.Decision) bool { return d.Target == at })
	if i < 0 {
		w.t.Fatalf("no decision for %s in %v", target, decisions)
	}
	return decisions[i]
}

// expect compares the state and the words of a decision.
func (w *world) expect(target string, state promotion.State, reason string) promotion.Decision {
	w.t.Helper()
	d := w.decide(target)
	if d.State != state || d.Reason.Message != reason {
		w.t.Errorf("%s: %s: %s\nwant %s: %s", target, d.State, d.Reason, state, reason)
	}
	return d
}
