package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// small is a description in the form of Kubernetes' own, with a type that holds itself.
const small = `{"definitions": {
  "v1.Ship": {
    "type": "object", "required": ["spec"],
    "x-kubernetes-group-version-kind": [{"group": "sea.k8s.io", "version": "v1", "kind": "Ship"}],
    "properties": {
      "apiVersion": {"type": "string"}, "kind": {"type": "string"},
      "spec": {"$ref": "#/definitions/v1.Hull"}}},
  "v1.Hull": {
    "type": "object",
    "properties": {
      "mass": {"$ref": "#/definitions/x.api.resource.Quantity"},
      "port": {"$ref": "#/definitions/x.util.intstr.IntOrString"},
      "flags": {"type": "object", "additionalProperties": {"type": "string"}},
      "boats": {"type": "array", "items": {"$ref": "#/definitions/v1.Hull"}}}},
  "x.api.resource.Quantity": {"type": "string"},
  "x.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
  "v1.Harbour": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Harbour"}]}
}}`

func TestConvert(t *testing.T) {
	t.Parallel()
	schemas, err := convert([]byte(small), []string{"Ship", "Harbour"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"harbour-v1.json", "ship-sea-v1.json"}, slices.Sorted(maps.Keys(schemas))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("ship.json", schemas["ship-sea-v1.json"]); err != nil {
		t.Fatal(err)
	}
	ship, err := compiler.Compile("ship.json")
	if err != nil {
		t.Fatal(err)
	}
	object := func(spec node) node { return node{"apiVersion": "sea.k8s.io/v1", "kind": "Ship", "spec": spec} }
	for name, test := range map[string]struct {
		object node
		fits   bool
	}{
		"whole":         {object(node{"mass": "1Gi", "port": 80.0, "flags": node{"any": "text"}}), true},
		"inside itself": {object(node{"boats": []any{node{"mass": 1.0}}}), true},
		"unknown field": {object(node{"masts": 3.0}), false},
		"unknown below": {object(node{"boats": []any{node{"masts": 3.0}}}), false},
		"wrong type":    {object(node{"flags": "text"}), false},
		"other version": {node{"apiVersion": "sea.k8s.io/v2", "kind": "Ship", "spec": node{}}, false},
		"nothing in it": {node{"apiVersion": "sea.k8s.io/v1", "kind": "Ship"}, false},
	} {
		if err := ship.Validate(test.object); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRun_unknownKind(t *testing.T) {
	t.Parallel()
	in := filepath.Join(t.TempDir(), "swagger.json")
	if err := os.WriteFile(in, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(in, t.TempDir(), []string{"Ship"}); err != nil {
		t.Error(err)
	}
	if err := run(in, t.TempDir(), []string{"Ship", "Plane"}); err == nil {
		t.Error("a kind that is not described is no error")
	}
}
