package strictyamltest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/strictyaml"
)

// Reference describes how the reference page of a config file is generated from raw types:
// one heading per key, so that each key has an anchor.
type Reference struct {
	File  string            // the page
	Intro string            // title and introduction
	Under map[string]string // what stands for the names below a key; <name> by default
}

// page generates the reference.
func (s Schema) page(t *testing.T) []byte {
	t.Helper()
	w := referenceWriter{schema: s, t: t, comment: s.comments(t), anchors: map[string]string{}, shown: map[string]string{}}
	var top []string
	for _, field := range keysOf(reflect.TypeOf(s.Root)) {
		top = append(top, w.linkTo(field.Tag.Get("yaml")))
	}
	w.out.WriteString(s.Reference.Intro + "\nTop-level keys: " + strings.Join(top, ", ") + ".\n")
	w.keys(reflect.TypeOf(s.Root), "")
	return []byte(w.out.String())
}

type referenceWriter struct {
	schema  Schema
	out     strings.Builder
	t       *testing.T
	comment func(reflect.Type, string) string
	anchors map[string]string
	shown   map[string]string // path of each field of a raw type that has a heading
}

// keysOf returns the fields of a raw type that are supported keys.
func keysOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(field reflect.StructField) bool {
		key, tagged := field.Tag.Lookup("yaml")
		return !tagged || key == strictyaml.ExtensionKeys || field.Type == reflect.TypeFor[strictyaml.Reserved]()
	})
}

// keys writes the keys of a raw type. If they have headings already, it links to them.
func (w *referenceWriter) keys(t reflect.Type, prefix string) {
	var links []string
	for _, field := range keysOf(t) {
		owner := declaring(t, field)
		identity := owner.Name() + "." + field.Name
		key := field.Tag.Get("yaml")
		if first, shown := w.shown[identity]; shown {
			links = append(links, "["+"`"+key+"`]("+anchor(first)+")")
			continue
		}
		w.shown[identity] = prefix + key
		w.key(owner, field, prefix)
	}
	if len(links) > 0 {
		fmt.Fprintf(&w.out, "\nKeys: %s.\n", strings.Join(links, ", "))
	}
}

func (w *referenceWriter) key(owner reflect.Type, field reflect.StructField, prefix string) {
	path, level := prefix+field.Tag.Get("yaml"), "###"
	if other, taken := w.anchors[anchor(path)]; taken {
		w.t.Fatalf("%s and %s have the same anchor", path, other)
	}
	w.anchors[anchor(path)] = path
	if prefix == "" {
		level = "##"
	}
	text, defaults, _ := strings.Cut(w.comment(owner, field.Name), " Default: ")
	inner, below := w.inner(field, path)
	facts := []string{w.kind(owner, field, text)}
	if field.Tag.Get("required") != "" {
		facts = append(facts, "required")
	}
	if defaults != "" {
		facts = append(facts, "default: "+strings.TrimSuffix(defaults, "."))
	}
	if inner != nil && len(w.schema.OneOf[definitionName(inner)]) > 0 {
		facts = append(facts, "exactly one of `"+strings.Join(w.schema.OneOf[definitionName(inner)], "`, `")+"`")
	}
	fmt.Fprintf(&w.out, "\n%s `%s`\n\n*%s*\n\n%s\n", level, path, strings.Join(facts, "; "), linkPages(text))
	if inner != nil {
		w.keys(inner, below)
	}
}

// inner returns the raw type below a key, and the prefix of its paths.
func (w *referenceWriter) inner(field reflect.StructField, path string) (reflect.Type, string) {
	name := w.schema.Reference.Under[path]
	if name == "" {
		name = "<name>"
	}
	t := field.Type
	switch {
	case t == reflect.TypeFor[strictyaml.List]() || strings.HasPrefix(t.Name(), "Located["):
		return nil, ""
	case t.Kind() == reflect.Pointer:
		return t.Elem(), path + "."
	case t.Kind() == reflect.Slice:
		return t.Elem().Elem(), path + "[]."
	}
	if entries, named := t.FieldByName("Entries"); named { // a map
		if value := entries.Type.Elem().Field(1).Type; value.Kind() == reflect.Pointer {
			return value.Elem(), path + "." + name + "."
		}
		return nil, ""
	}
	if items, sections := t.FieldByName("Items"); sections {
		return items.Type.Elem().Elem(), path + "[]."
	}
	if parents, several := t.FieldByName("Parents"); several {
		return parents.Type.Field(1).Type.Elem().Field(1).Type.Elem(), path + "." + name + "."
	}
	return t, path + "."
}

// kind returns the values that a key can have.
func (w *referenceWriter) kind(owner reflect.Type, field reflect.StructField, text string) string {
	values := strings.Fields(field.Tag.Get("values"))
	if enumerated, ok := w.schema.Enums[definitionName(owner)+"."+field.Tag.Get("yaml")]; ok {
		values = enumerated
	}
	choice := "`" + strings.Join(values, "`, `") + "`"
	t := field.Type
	switch {
	case field.Name == "Version" && t == reflect.TypeFor[strictyaml.Located[int]]():
		return fmt.Sprintf("`%d`", w.schema.Version)
	case w.schema.Forms[t] != nil && t.Field(0).Type == reflect.TypeFor[strictyaml.Origin]():
		return "list, or mapping by name"
	case w.schema.Forms[t] != nil:
		return "duration, or mapping"
	case t == reflect.TypeFor[strictyaml.List]() && len(values) > 0:
		return "list of " + choice
	case t == reflect.TypeFor[strictyaml.List]():
		return "list of strings"
	case len(values) > 0:
		return choice
	case t == reflect.TypeFor[strictyaml.Located[int]](), t == reflect.TypeFor[strictyaml.Located[float64]]():
		return "number"
	case t == reflect.TypeFor[strictyaml.Located[bool]]():
		return "`true` or `false`"
	case t == reflect.TypeFor[strictyaml.Located[time.Duration]]():
		return "duration"
	case strings.Contains(text, "by reference"):
		return "secret reference"
	case strings.Contains(text, "MiB"):
		return "size"
	case t == reflect.TypeFor[strictyaml.Located[string]]():
		return "string"
	case t == reflect.TypeFor[strictyaml.Map[strictyaml.Located[string]]]():
		return "strings by name"
	case t.Kind() == reflect.Slice, strings.HasPrefix(t.Name(), "Sections["):
		return "list of mappings"
	case t.Kind() == reflect.Pointer:
		return "mapping"
	}
	return "mapping by name"
}

// declaring returns the raw type that declares a field, which can be an embedded one.
func declaring(t reflect.Type, field reflect.StructField) reflect.Type {
	for _, i := range field.Index[:len(field.Index)-1] {
		t = t.Field(i).Type
	}
	return t
}

func (w *referenceWriter) linkTo(path string) string { return "[`" + path + "`](" + anchor(path) + ")" }

// anchor returns the anchor that forges give a heading.
func anchor(path string) string {
	return "#" + strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9-]`).ReplaceAllString(path, ""))
}

var pageName = regexp.MustCompile(`docs/([a-z/-]+\.md)(#([a-z-]+))?`)

// linkPages turns the names of pages into links.
func linkPages(text string) string {
	return pageName.ReplaceAllStringFunc(text, func(name string) string {
		found := pageName.FindStringSubmatch(name)
		label := found[3]
		if label == "" {
			label = strings.TrimSuffix(filepath.Base(found[1]), ".md")
		}
		return "[" + strings.ReplaceAll(label, "-", " ") + "](../" + found[1] + found[2] + ")"
	})
}
