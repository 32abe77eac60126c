package config

import (
	"flag"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	reflectschema "github.com/invopop/jsonschema"

	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/strictyaml"
	"promoter/internal/strictyaml/strictyamltest"
)

const referenceIntro = `# Reference: ` + "`.promoter.yaml`" + `

<!-- Generated from the types in internal/config by go generate. Do not edit. -->

Every key of the config file. [Configuration](../configuration.md) explains the file with examples.
[Syntax](../configuration.md#syntax) defines durations, globs, and names.
`

// schema and the reference are generated with: go test . -run TestSchema_isCurrent -update.
func schema() strictyamltest.Schema {
	return strictyamltest.Schema{
		File: "../../config/promoter.schema.json", Root: rawConfig{}, Sources: []string{".", "setting", "field", "trust"}, Version: 1,
		Reference: strictyamltest.Reference{File: "../../docs/reference/config.md", Intro: referenceIntro, Under: map[string]string{
			"applications": "<glob>", "environments.<name>.after": "<parent>",
		}},
		Define: []any{setting.RawConditions{}, field.RawSchedule{}},
		Forms: map[reflect.Type][]*reflectschema.Schema{
			reflect.TypeFor[setting.RawAfter](): {
				{Type: "array", Items: &reflectschema.Schema{Type: "string"}},
				{Type: "object", AdditionalProperties: &reflectschema.Schema{Ref: "#/$defs/conditions"}},
			},
			reflect.TypeFor[field.RawPoll](): {{Type: "string", Pattern: strictyamltest.DurationPattern}, {Ref: "#/$defs/schedule"}},
		},
		OneOf: map[string][]string{
			"component": {"image", "chart", "artifact"},
			"select":    strategyNames(),
			"write":     {"path", "regex"},
		},
		Names: []reflect.Type{
			reflect.TypeFor[strictyaml.Map[*rawComponent]](), reflect.TypeFor[strictyaml.Map[*rawEnvironment]](), reflect.TypeFor[strictyaml.Map[*rawWindow]](),
		},
	}
}

func TestSchema_isCurrent(t *testing.T) {
	t.Parallel()
	schema().CheckCurrent(t, flag.Lookup("update").Value.String() == "true")
}

func TestSchema_acceptsExamples(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../../config/examples/*.yaml", "testdata/valid/*.yaml"} {
		for _, file := range strictyamltest.Files(t, pattern) {
			if strings.HasPrefix(filepath.Base(file), "server") {
				continue
			}
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
		"key-unknown", "key-unknown-top", "key-misplaced", "version-unknown", "version-text", "version-missing", "type-text",
		"type-list", "type-mapping", "type-null", "type-bool", "type-number", "value-unknown", "name-component", "name-environment",
		"reserved", "health-value", "component-no-artifact", "component-two-artifacts", "select-missing", "select-none", "select-two",
		"select-min-age", "write-file", "write-place", "write-places", "write-component", "window-kind", "after-text",
		"after-null", "application-key", "notify", "poll-list", "poll-empty", "poll-key", "poll-text", "poll-cron",
	} {
		if schema().Validate(t, filepath.Join("testdata/invalid", rule+".yaml")) == nil {
			t.Errorf("%s: the schema accepts what does not load", rule)
		}
	}
}
