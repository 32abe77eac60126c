package input_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/promotiontest"
)

func TestIndex_ApplicationsOf(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	for _, target := range []string{"dev/d", "dev/a", "dev/f", "staging/e", "staging/a", "staging/c", "prod/b"} {
		w.has(target, "web:1.4.0")
	}
	for environment, want := range map[string][]string{
		"dev":     {"a", "d", "f"},
		"staging": {"a", "c", "d", "e", "f"},
		"prod":    {"a", "b", "c", "d", "e", "f"},
	} {
		if diff := cmp.Diff(want, input.NewIndex(t.Context(), w.Observation).ApplicationsOf(environment)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", environment, diff)
		}
	}
}

// An environment whose branch is not available has one decision that shows that.
func TestIndex_ApplicationsOfUnavailableEnvironments(t *testing.T) {
	t.Parallel()
	for why, want := range map[string][]string{"": nil, "it was deleted": {""}} {
		w := newScenario(t, chain)
		w.Unavailable = map[string]string{"dev": why}
		if diff := cmp.Diff(want, input.NewIndex(t.Context(), w.Observation).ApplicationsOf("dev")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", why, diff)
		}
		w.has("dev/shop", "web:1.4.0")
		if diff := cmp.Diff([]string{"shop"}, input.NewIndex(t.Context(), w.Observation).ApplicationsOf("dev")); diff != "" {
			t.Errorf("%q, with files (-want +got):\n%s", why, diff)
		}
	}
}

// What registries answered to the lookups of one application is not known to another one: a kept
// decision would depend on an answer that it did not ask for.
func TestIndex_factsOfEachApplication(t *testing.T) {
	t.Parallel()
	w := newScenario(t, chain)
	fact := promotion.Fact{Repository: promotiontest.Repository("web"), Tag: "1.4.0", Digest: promotiontest.DigestA}
	w.FactsOf = map[string]promotion.Facts{
		"one": {fact: image.Version{Version: "of one"}},
		"two": {fact: image.Version{Version: "of two"}},
	}
	targets := []string{"dev/none", "dev/one", "dev/two", "dev/other"}
	for _, target := range targets {
		w.has(target, "web:1.4.0@A")
	}
	var got []string
	for _, target := range targets {
		in := w.input(target)
		got = append(got, in.Refs[0].Recorded.Version, in.For(input.Row{Reads: input.Registry}).Registry().Facts[fact].Version)
	}
	if diff := cmp.Diff([]string{"", "", "of one", "of one", "of two", "of two", "", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestIsMoving(t *testing.T) {
	t.Parallel()
	moving, semver := policyOf(t, image.Selection{Tag: "released"}), policyOf(t, image.Selection{Semver: ">=1"})
	if !input.IsMoving(moving) || input.IsMoving(semver) || input.IsMoving(nil) {
		t.Error("a component moves if its policy selects one tag")
	}
}
