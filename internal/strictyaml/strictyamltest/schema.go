package strictyamltest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	reflectschema "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	yaml "go.yaml.in/yaml/v3"

	"promoter/internal/strictyaml"
)

// Schema describes how a JSON Schema, and the reference page with the same keys, are
// generated from raw types. Comments of the types and of their fields become descriptions.
// They are in Markdown for the page, and end with "Default: …." if there is a default.
type Schema struct {
	File    string   // of the schema
	Root    any      // the raw type of the file
	Sources []string // folders with the Go files of the raw types
	Define  []any    // raw types that only types with several forms lead to
	Forms   map[reflect.Type][]*reflectschema.Schema
	Enums   map[string][]string // by definition and key: "receiver.kind"
	OneOf   map[string][]string // by definition: keys of which exactly one must be present
	Names   []reflect.Type      // maps whose keys are names
	Version int                 // the only version of the file

	Reference Reference
}

// Patterns of strings.
const (
	NamePattern     = `^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`
	DurationPattern = `^0$|^([0-9.]+(ns|us|µs|ms|s|m|h|d|w))+$`
	referPattern    = `^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$`
	sizePattern     = `^[1-9][0-9]*(KiB|MiB|GiB)$`
)

// CheckCurrent compares the schema and the reference with the generated ones. With update
// it writes them.
func (s Schema) CheckCurrent(t *testing.T, update bool) {
	t.Helper()
	for file, want := range map[string][]byte{s.File: s.generate(t), s.Reference.File: s.page(t)} {
		if update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date; go generate writes it (-want +got):\n%s", file, diff)
		}
	}
}

// Validate validates a YAML file as an editor does: with anchors expanded and dates as
// strings.
func (s Schema) Validate(t *testing.T, file string) error {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(withoutTimes(value))
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

func (s Schema) generate(t *testing.T) []byte {
	t.Helper()
	reflector := &reflectschema.Reflector{
		FieldNameTag: "yaml", Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		Mapper: s.mapType, Namer: definitionName, LookupComment: plain(s.comments(t)),
	}
	schema := reflector.Reflect(s.Root)
	for _, raw := range s.Define {
		definition := reflector.Reflect(raw)
		definition.Version, definition.Definitions = "", nil
		schema.Definitions[definitionName(reflect.TypeOf(raw))] = definition
	}
	s.finish(schema, reflect.TypeOf(s.Root))
	for _, raw := range RawTypes(s.Root) {
		if definition := schema.Definitions[definitionName(raw)]; definition != nil && definition.Properties != nil {
			s.finish(definition, raw)
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func definitionName(t reflect.Type) string {
	name := t.Name()
	if !strings.HasPrefix(strings.ToLower(name), "raw") {
		return ""
	}
	return strings.ToLower(name[3:4]) + name[4:]
}

// mapType maps the types of values.
func (s Schema) mapType(t reflect.Type) *reflectschema.Schema {
	if forms, ok := s.Forms[t]; ok {
		return &reflectschema.Schema{OneOf: forms}
	}
	switch t {
	case reflect.TypeFor[strictyaml.Located[string]]():
		return &reflectschema.Schema{Type: "string"}
	case reflect.TypeFor[strictyaml.Located[int]]():
		return &reflectschema.Schema{Type: "integer"}
	case reflect.TypeFor[strictyaml.Located[float64]]():
		return &reflectschema.Schema{Type: "number"}
	case reflect.TypeFor[strictyaml.Located[bool]]():
		return &reflectschema.Schema{Type: "boolean"}
	case reflect.TypeFor[strictyaml.Located[time.Duration]]():
		return &reflectschema.Schema{Type: "string", Pattern: DurationPattern}
	case reflect.TypeFor[strictyaml.List]():
		return &reflectschema.Schema{Type: "array", Items: &reflectschema.Schema{Type: "string"}}
	case reflect.TypeFor[strictyaml.Reserved](), reflect.TypeFor[strictyaml.Extensions](), reflect.TypeFor[strictyaml.Origin]():
		return &reflectschema.Schema{}
	}
	return nil
}

// finish adds to a definition what the tags of the raw types say, and removes what is
// not a key.
func (s Schema) finish(schema *reflectschema.Schema, t reflect.Type) {
	for _, internal := range []string{"Origin", "Invalid", "Position", "File", "Line", "Column", strictyaml.ExtensionKeys} {
		schema.Properties.Delete(internal)
	}
	for _, field := range reflect.VisibleFields(t) {
		name, tagged := field.Tag.Lookup("yaml")
		property, _ := schema.Properties.Get(name)
		switch {
		case !tagged:
			continue
		case name == strictyaml.ExtensionKeys:
			schema.PatternProperties = map[string]*reflectschema.Schema{"^x-": {}}
			continue
		case field.Type == reflect.TypeFor[strictyaml.Reserved]():
			schema.Properties.Delete(name)
			continue
		}
		if field.Tag.Get("required") != "" {
			schema.Required = append(schema.Required, name)
		}
		s.finishProperty(property, field, definitionName(t)+"."+name)
	}
	for _, key := range s.OneOf[definitionName(t)] {
		schema.OneOf = append(schema.OneOf, &reflectschema.Schema{Required: []string{key}})
	}
}

func (s Schema) finishProperty(property *reflectschema.Schema, field reflect.StructField, key string) {
	values := s.Enums[key]
	if tag, limited := field.Tag.Lookup("values"); limited {
		values = strings.Fields(tag)
	}
	target := property
	if field.Type == reflect.TypeFor[strictyaml.List]() {
		target = property.Items
	}
	for _, value := range values {
		target.Enum = append(target.Enum, value)
	}
	if slices.Contains(s.Names, field.Type) {
		property.PropertyNames = &reflectschema.Schema{Pattern: NamePattern}
	}
	switch {
	case field.Name == "Version" && field.Type == reflect.TypeFor[strictyaml.Located[int]]():
		property.Const = s.Version
	case strings.Contains(property.Description, "by reference"):
		property.Pattern = referPattern
	case strings.Contains(property.Description, "MiB"):
		property.Pattern = sizePattern
	}
}

// RawTypes returns the raw structs that a type leads to.
func RawTypes(root any) []reflect.Type {
	var found []reflect.Type
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			visit(t.Elem())
		case reflect.Struct:
			if slices.Contains(found, t) {
				return
			}
			found = append(found, t)
			for i := range t.NumField() {
				visit(t.Field(i).Type)
			}
		}
	}
	visit(reflect.TypeOf(root))
	return found
}

// comments returns the comments of types and fields in the sources.
func (s Schema) comments(t *testing.T) func(reflect.Type, string) string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range s.Sources {
		for _, file := range Files(t, filepath.Join(folder, "*.go")) {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range parsed.Decls {
				if types, ok := declaration.(*ast.GenDecl); ok && types.Tok == token.TYPE {
					collectComments(found, types)
				}
			}
		}
	}
	return func(typ reflect.Type, field string) string { return found[typ.Name()+"."+field] }
}

// plain removes Markdown.
func plain(comment func(reflect.Type, string) string) func(reflect.Type, string) string {
	return func(t reflect.Type, field string) string { return strings.ReplaceAll(comment(t, field), "`", "") }
}

func collectComments(found map[string]string, declaration *ast.GenDecl) {
	for _, spec := range declaration.Specs {
		named, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		// Readers of a schema do not know the Go name of a type.
		text, _, _ := strings.Cut(declaration.Doc.Text(), "\n\n")
		text = strings.Join(strings.Fields(text), " ")
		if rest, cut := strings.CutPrefix(text, named.Name.Name+" is "); cut {
			text = strings.ToUpper(rest[:1]) + rest[1:]
		}
		found[named.Name.Name+"."] = text
		structure, ok := named.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				found[named.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
			}
		}
	}
}
