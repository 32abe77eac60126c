package edit_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/edit"
)

func TestPosition_String(t *testing.T) {
	t.Parallel()
	at := edit.Position{File: "apps/web/kustomization.yaml", Line: 12, Column: 5}
	if got, want := at.String(), "apps/web/kustomization.yaml:12:5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRefusal_String(t *testing.T) {
	t.Parallel()
	for want, refusal := range map[string]edit.Refusal{
		"a.yaml: larger than 1 MiB":      {File: "a.yaml", Reason: "larger than 1 MiB"},
		"a.yaml:3: the tag stands alone": {File: "a.yaml", Line: 3, Component: "web", Reason: "the tag stands alone"},
	} {
		if got := refusal.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Scripts read these names: they are those of plan -o json.
func TestJSON(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		`{"component":"web","kind":"helm","file":"a.yaml","line":3,"column":8,"from":"\"v1\"","to":"\"v2\""}`: edit.Change{
			Component: "web", Shape: "helm", Position: edit.Position{File: "a.yaml", Line: 3, Column: 8}, From: `"v1"`, To: `"v2"`,
		},
		`{"file":"a.yaml","line":3,"component":"web","reason":"r"}`: edit.Refusal{File: "a.yaml", Line: 3, Component: "web", Reason: "r"},
		`{"file":"a.yaml","reason":"r"}`:                            edit.Refusal{File: "a.yaml", Reason: "r"},
	} {
		got, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMentions_add(t *testing.T) {
	t.Parallel()
	var all edit.Mentions
	for i := range edit.MaxMentions {
		all.Add(edit.Mentions{Listed: []edit.Mention{{Position: edit.Position{File: "b", Line: edit.MaxMentions - i}, Prose: i == 0}}, More: 1})
	}
	all.Add(edit.Mentions{Listed: []edit.Mention{{Position: edit.Position{File: "c"}}, {Position: edit.Position{File: "a"}}}})
	first, last := all.Listed[0].File, all.Listed[edit.MaxMentions-1].File
	if len(all.Listed) != edit.MaxMentions || all.More != edit.MaxMentions+2 || first != "a" || last != "b" {
		t.Errorf("%d listed from %s to %s, and %d more", len(all.Listed), first, last, all.More)
	}
}
