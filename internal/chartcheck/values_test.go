package chartcheck

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schema is the part of values.schema.json that the tests use.
type schema struct {
	Properties           map[string]schema
	AdditionalProperties any `json:"additionalProperties"`
}

// values.schema.json and values.yaml contain the same values.
func TestSchema_isThatOfTheValues(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(folder + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	delete(root.Properties, "global") // Helm's own
	compare(t, "values", root, valuesOf(t, folder+"/values.yaml"))
}

// compare compares objects whose keys the chart defines.
func compare(t *testing.T, target string, want schema, values map[string]any) {
	t.Helper()
	if want.AdditionalProperties != false {
		return
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want.Properties)), slices.Sorted(maps.Keys(values))); diff != "" {
		t.Errorf("%s (-schema +values.yaml):\n%s", target, diff)
	}
	for key, inner := range want.Properties {
		if below, found := values[key].(map[string]any); found {
			compare(t, target+"."+key, inner, below)
		}
	}
}
