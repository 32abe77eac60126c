package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	reflectschema "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	yaml "go.yaml.in/yaml/v3"
)

// The JSON Schemas in config/ are made from the raw types: go test
// ./internal/config -run TestSchema_isCurrent -update. The libraries are only used here.

const schemaFolder = "../../config"

func schemaRoots() map[string]any {
	return map[string]any{"promoter.schema.json": rawConfig{}, "promoter-server.schema.json": rawServer{}}
}

func TestSchema_isCurrent(t *testing.T) {
	t.Parallel()
	for name, root := range schemaRoots() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := generate(t, root)
			file := filepath.Join(schemaFolder, name)
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s is out of date; go generate ./internal/config writes it (-want +got):\n%s", file, diff)
			}
		})
	}
}

func TestSchema_acceptsExamples(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../../config/examples/*.yaml", "testdata/valid/*.yaml"} {
		for _, file := range glob(t, pattern) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				if err := schemaFor(t, file).Validate(plainValue(t, file)); err != nil {
					t.Errorf("the schema refuses what loads: %v", err)
				}
			})
		}
	}
}

// TestSchema_refuses names the rules that an editor shows while one writes. The
// others need to look at two places.
func TestSchema_refuses(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"key-unknown", "key-unknown-top", "key-misplaced", "version-unknown", "version-text", "version-missing",
		"type-text", "type-list", "type-mapping", "type-null", "type-bool", "type-number", "value-unknown",
		"name-component", "name-environment", "reserved", "component-no-artifact", "component-two-artifacts",
		"select-missing", "select-none", "select-two", "select-min-age", "health-two", "write-file", "write-place",
		"write-places", "write-component", "window-kind", "after-text", "after-null", "application-key",
		"server-key", "server-secret", "server-forge-kind", "server-receiver-kind", "server-permission", "server-sizes",
		"server-registry-host", "server-repository",
		"poll-list", "poll-empty", "poll-key", "poll-text", "poll-cron", "server-registry-poll",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata/invalid", rule+".yaml")
			if schemaFor(t, file).Validate(plainValue(t, file)) == nil {
				t.Error("the schema accepts what does not load")
			}
		})
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

func schemaFor(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	name := "promoter.schema.json"
	if strings.HasPrefix(filepath.Base(file), "server") {
		name = "promoter-server.schema.json"
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// plainValue reads a file as an editor does: anchors followed, dates as texts.
func plainValue(t *testing.T, file string) any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return withoutTimes(value)
}

func withoutTimes(value any) any {
	switch v := value.(type) {
	case time.Time:
		return v.Format(time.DateOnly)
	case map[string]any:
		for key := range v {
			v[key] = withoutTimes(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return value
}

// generate makes the schema of a raw type.
func generate(t *testing.T, root any) []byte {
	t.Helper()
	reflector := &reflectschema.Reflector{
		FieldNameTag: "yaml", Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		Mapper: scalarSchema, Namer: schemaName, LookupComment: comments(t),
	}
	schema := reflector.Reflect(root)
	// What a type of two forms leads to is not found by reflection.
	define := func(raw any) {
		definition := reflector.Reflect(raw)
		definition.Version, definition.Definitions = "", nil
		schema.Definitions[schemaName(reflect.TypeOf(raw))] = definition
	}
	if _, ok := root.(rawConfig); ok {
		define(rawConditions{})
	}
	define(rawSchedule{})
	finish(schema, reflect.TypeOf(root))
	for _, raw := range rawTypes(reflect.TypeOf(root), nil) {
		if definition := schema.Definitions[schemaName(raw)]; definition != nil && definition.Properties != nil {
			finish(definition, raw)
		}
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.Write(text)
	out.WriteByte('\n')
	return out.Bytes()
}

func schemaName(t reflect.Type) string {
	name, raw := strings.CutPrefix(t.Name(), "raw")
	if !raw {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

const (
	namePattern     = `^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`
	durationPattern = `^0$|^([0-9.]+(ns|us|µs|ms|s|m|h|d|w))+$`
	referPattern    = `^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$`
	sizePattern     = `^[1-9][0-9]*(KiB|MiB|GiB)$`
)

// scalarSchema maps the types of values.
func scalarSchema(t reflect.Type) *reflectschema.Schema {
	switch t {
	case reflect.TypeFor[at[string]]():
		return &reflectschema.Schema{Type: "string"}
	case reflect.TypeFor[at[int]]():
		return &reflectschema.Schema{Type: "integer"}
	case reflect.TypeFor[at[float64]]():
		return &reflectschema.Schema{Type: "number"}
	case reflect.TypeFor[at[bool]]():
		return &reflectschema.Schema{Type: "boolean"}
	case reflect.TypeFor[at[time.Duration]]():
		return &reflectschema.Schema{Type: "string", Pattern: durationPattern}
	case reflect.TypeFor[list]():
		return &reflectschema.Schema{Type: "array", Items: &reflectschema.Schema{Type: "string"}}
	case reflect.TypeFor[reserved](), reflect.TypeFor[extensions](), reflect.TypeFor[place]():
		return &reflectschema.Schema{}
	}
	return nil
}

// JSONSchemaAlias lets a mapping with names as keys look like one.
func (named[T]) JSONSchemaAlias() any { return map[string]T{} }

// JSONSchema gives parents their two forms.
func (rawAfter) JSONSchema() *reflectschema.Schema {
	return &reflectschema.Schema{OneOf: []*reflectschema.Schema{
		{Type: "array", Items: &reflectschema.Schema{Type: "string"}},
		{Type: "object", AdditionalProperties: &reflectschema.Schema{Ref: "#/$defs/conditions"}},
	}}
}

// JSONSchema gives a poll its two forms.
func (rawPoll) JSONSchema() *reflectschema.Schema {
	return &reflectschema.Schema{OneOf: []*reflectschema.Schema{
		{Type: "string", Pattern: durationPattern}, {Ref: "#/$defs/schedule"},
	}}
}

// exactlyOne lists keys of which one must be there, and those of which at most one
// may.
func exactlyOne(name string) (keys []string, required bool) {
	switch name {
	case "component":
		return []string{"image", "chart", "artifact"}, true
	case "select":
		return strategyNames, true
	case "write":
		return []string{"path", "regex"}, true
	case "health":
		return []string{"argocd", "flux", "check", "deployment", "api"}, false
	}
	return nil, false
}

// finish adds to a definition what the tags of our own say, and takes away what is
// no key.
func finish(schema *reflectschema.Schema, t reflect.Type) {
	for _, internal := range []string{"place", "File", "Line", "Column", extensionKeys} {
		schema.Properties.Delete(internal)
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, tagged := field.Tag.Lookup("yaml")
		property, _ := schema.Properties.Get(name)
		switch {
		case !tagged:
			continue
		case name == extensionKeys:
			schema.PatternProperties = map[string]*reflectschema.Schema{"^x-": {}}
			continue
		case field.Type == reflect.TypeFor[reserved]():
			schema.Properties.Delete(name)
			continue
		}
		if field.Tag.Get("required") != "" {
			schema.Required = append(schema.Required, name)
		}
		finishProperty(property, field, name)
	}
	if keys, required := exactlyOne(schemaName(t)); keys != nil {
		schema.OneOf = alternatives(keys, required)
	}
}

func alternatives(keys []string, required bool) []*reflectschema.Schema {
	var out, all []*reflectschema.Schema
	for _, key := range keys {
		one := &reflectschema.Schema{Required: []string{key}}
		out, all = append(out, one), append(all, one)
	}
	if !required {
		out = append(out, &reflectschema.Schema{Not: &reflectschema.Schema{AnyOf: all}})
	}
	return out
}

func finishProperty(property *reflectschema.Schema, field reflect.StructField, name string) {
	if values, limited := field.Tag.Lookup("values"); limited {
		target := property
		if field.Type == reflect.TypeFor[list]() {
			target = property.Items
		}
		for _, value := range strings.Fields(values) {
			target.Enum = append(target.Enum, value)
		}
	}
	switch field.Type {
	case reflect.TypeFor[named[*rawComponent]](), reflect.TypeFor[named[*rawEnvironment]](), reflect.TypeFor[named[*rawWindow]](),
		reflect.TypeFor[named[*rawForge]](), reflect.TypeFor[named[*rawReceiver]]():
		property.PropertyNames = &reflectschema.Schema{Pattern: namePattern}
	}
	switch {
	case name == "version":
		property.Const = formatVersion
	case strings.Contains(property.Description, "by reference"):
		property.Pattern = referPattern
	case strings.Contains(property.Description, "MiB"):
		property.Pattern = sizePattern
	}
}

// rawTypes returns the raw structs that a type leads to.
func rawTypes(t reflect.Type, found []reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return rawTypes(t.Elem(), found)
	case reflect.Struct:
	default:
		return found
	}
	for _, seen := range found {
		if seen == t {
			return found
		}
	}
	found = append(found, t)
	for i := range t.NumField() {
		found = rawTypes(t.Field(i).Type, found)
	}
	return found
}

// comments returns the comments of the raw types and of their fields, which become
// the descriptions of the schema.
func comments(t *testing.T) func(reflect.Type, string) string {
	t.Helper()
	found := map[string]string{}
	for _, file := range []string{"raw.go", "rawserver.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			declaration, ok := n.(*ast.GenDecl)
			if !ok || declaration.Tok != token.TYPE {
				return true
			}
			collect(found, declaration)
			return false
		})
	}
	return func(typ reflect.Type, field string) string { return found[typ.Name()+"."+field] }
}

func collect(found map[string]string, declaration *ast.GenDecl) {
	for _, spec := range declaration.Specs {
		named, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		found[named.Name.Name+"."] = oneLine(declaration.Doc.Text(), named.Name.Name)
		structure, ok := named.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				found[named.Name.Name+"."+name.Name] = oneLine(field.Doc.Text(), name.Name)
			}
		}
	}
}

// oneLine drops the Go name of a type, which readers of a schema do not know.
func oneLine(comment, name string) string {
	text := strings.Join(strings.Fields(comment), " ")
	if rest, found := strings.CutPrefix(text, name+" "); found && strings.HasPrefix(name, "raw") {
		return "This " + rest
	}
	return text
}
