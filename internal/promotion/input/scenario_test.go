package input_test

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// chain is a config of three environments in a row without conditions.
const chain = promotiontest.Components + `
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
  prod: {paths: ["prod/{application}"], after: [staging]}
`

// scenario builds an observation.
type scenario struct{ promotion.Observation }

func newScenario(t *testing.T, text string) *scenario {
	t.Helper()
	c := promotiontest.Load(t, text)
	w := &scenario{promotion.Observation{
		Config:   c,
		Targets:  map[promotion.Target]promotion.Current{},
		Policies: map[string]*image.Policy{},
		Facts:    promotion.Facts{},
		Landings: map[promotion.Target][]promotion.Landing{},
	}}
	for _, component := range c.Components {
		w.Policies[component.Name] = c.Policy(component.Name)
	}
	return w
}

// target splits ENVIRONMENT/APPLICATION.
func target(text string) promotion.Target {
	environment, application, found := strings.Cut(text, "/")
	if !found {
		application = config.DefaultApplication
	}
	return promotion.Target{Environment: environment, Application: application}
}

// has adds references, written COMPONENT:TAG@DIGEST, to a target.
func (w *scenario) has(at string, references ...string) {
	current := w.Targets[target(at)]
	for _, text := range references {
		component, rest, _ := strings.Cut(longDigests.Replace(text), ":")
		v := promotiontest.Version(rest)
		current.References = append(current.References, edit.Reference{
			Component: component, Repository: promotiontest.Repository(component), Tag: v.Tag, Digest: v.Digest,
		})
	}
	w.Targets[target(at)] = current
}

// pins sets the form that pin requires of the references of a target that have another one.
func (w *scenario) pins(at string, form edit.Form) {
	for i, r := range w.Targets[target(at)].References {
		if form != (edit.Form{Tag: r.Tag != "", Digest: r.Digest != ""}) {
			w.Targets[target(at)].References[i].Form = form
		}
	}
}

// landed adds landings to a target, from the newest to the oldest.
func (w *scenario) landed(at string, landings ...promotion.Landing) {
	w.Landings[target(at)] = append(w.Landings[target(at)], landings...)
}

// addFact adds what a registry reports about a tag.
func (w *scenario) addFact(component, tag string, v image.Version) {
	w.Facts[promotion.Fact{Repository: promotiontest.Repository(component), Tag: tag}] = v
}

// decides applies a change to the state without validation.
func (w *scenario) decides(change state.Change) { w.State = change(w.State) }

// input returns the input of the decision about a target.
func (w *scenario) input(at string) input.Target {
	var taken input.Reads
	return input.New(input.NewIndex(context.Background(), w.Observation), target(at), promotiontest.Noon, &taken)
}

// row returns the input of a row that declares nothing, with what it reads.
func (w *scenario) row(at string) (input.Target, *input.Reads) {
	taken := new(input.Reads)
	in := input.New(input.NewIndex(context.Background(), w.Observation), target(at), promotiontest.Noon, taken)
	*taken = 0
	return in.For(input.Row{Name: "row that declares nothing"}), taken
}

// Digests in one character.
var (
	longDigests = strings.NewReplacer("@A", "@"+promotiontest.DigestA, "@B", "@"+promotiontest.DigestB,
		"@C", "@"+promotiontest.Digest("c"), "@D", "@"+promotiontest.Digest("d"))
	shortDigests = strings.NewReplacer(promotiontest.DigestA, "A", promotiontest.DigestB, "B",
		promotiontest.Digest("c"), "C", promotiontest.Digest("d"), "D")
)

// versionOf reads TAG, @DIGEST, or TAG@DIGEST, with short digests.
func versionOf(text string) image.Version { return promotiontest.Version(longDigests.Replace(text)) }

// snapshotOf reads COMPONENT:TAG@DIGEST, with short digests.
func snapshotOf(texts ...string) promotion.Snapshot {
	return promotiontest.Pinned(strings.Fields(longDigests.Replace(strings.Join(texts, " ")))...)
}

// versionText writes a version as TAG@DIGEST, and after it what the registry reports as its version.
func versionText(v image.Version) string {
	return strings.TrimSpace(v.Tag + "@" + shortDigests.Replace(v.Digest) + " " + v.Version)
}

// policyOf compiles a selection.
func policyOf(t *testing.T, selection image.Selection) *image.Policy {
	t.Helper()
	policy, err := image.NewPolicy(selection)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}
