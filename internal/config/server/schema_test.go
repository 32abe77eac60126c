package serverconfig

import (
	"flag"
	"path/filepath"
	"reflect"
	"testing"

	reflectschema "github.com/invopop/jsonschema"

	"promoter/internal/config/field"
	"promoter/internal/receiver"
	"promoter/internal/strictyaml"
	"promoter/internal/strictyaml/strictyamltest"
	"promoter/internal/verb"
)

const referenceIntro = `# Reference: ` + "`promoter-server.yaml`" + `

<!-- Generated from the types in internal/config/server by go generate. Do not edit. -->

Every key of the server file. [Configuration](../configuration.md#promoter-serveryaml) explains the file with an example.
A [secret reference](../configuration.md#secrets) is ` + "`env:NAME` or `file:/PATH`; a size is a number with `KiB`, `MiB`, or `GiB`" + `.
`

// schema and the reference are generated with: go test . -run TestSchema_isCurrent -update.
func schema() strictyamltest.Schema {
	return strictyamltest.Schema{
		File: "../../../config/promoter-server.schema.json", Root: rawServer{}, Sources: []string{".", "../field", "../trust"}, Version: 1,
		Define: []any{field.RawSchedule{}},
		Forms: map[reflect.Type][]*reflectschema.Schema{
			reflect.TypeFor[field.RawPoll](): {{Type: "string", Pattern: strictyamltest.DurationPattern}, {Ref: "#/$defs/schedule"}},
		},
		Enums:     map[string][]string{"receiver.kind": receiver.Names(), "permission.verbs": textsOf(verb.Decisions())},
		Reference: strictyamltest.Reference{File: "../../../docs/reference/server.md", Intro: referenceIntro},
		Names:     []reflect.Type{reflect.TypeFor[strictyaml.Map[*rawForge]](), reflect.TypeFor[strictyaml.Map[*rawReceiver]](), reflect.TypeFor[strictyaml.Map[*rawDestination]]()},
	}
}

func TestSchema_isCurrent(t *testing.T) {
	t.Parallel()
	schema().CheckCurrent(t, flag.Lookup("update").Value.String() == "true")
}

func TestSchema_acceptsExamples(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../../../config/examples/server*.yaml", "testdata/valid/*.yaml"} {
		for _, file := range strictyamltest.Files(t, pattern) {
			if err := schema().Validate(t, file); err != nil {
				t.Errorf("%s: the schema refuses what loads: %v", file, err)
			}
		}
	}
}

// TestSchema_refuses lists the rules that an editor shows while a user types. The others
// involve two places.
func TestSchema_refuses(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"server-key", "server-secret", "server-forge-kind", "server-receiver-kind", "server-permission", "server-sizes",
		"server-registry-host", "server-repository", "server-registry-poll", "server-notify",
	} {
		if schema().Validate(t, filepath.Join("testdata/invalid", rule+".yaml")) == nil {
			t.Errorf("%s: the schema accepts what does not load", rule)
		}
	}
}
