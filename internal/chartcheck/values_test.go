package chartcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// values.yaml has the values of the chart, their defaults, and their descriptions.
// values.schema.json adds constraints, which are edited there; -update writes the rest of it,
// and the README.
func TestValues_schemaAndReadmeAreCurrent(t *testing.T) { //nolint:paralleltest // other tests load the schema
	values, schema := parsed(t, "values.yaml"), parsed(t, "values.schema.json")
	known := child(schema, "properties")
	properties := schemas(known, values)
	properties.Content = append([]*yaml.Node{text("global"), child(known, "global")}, properties.Content...) // Helm's own
	set(schema, "properties", properties)
	golden(t, "../values.schema.json", asJSON(t, schema))

	var page strings.Builder
	page.WriteString(readme)
	rows(t, &page, "", values, schema)
	golden(t, "../README.md", page.String())
}

const readme = `# promoter

This chart installs [promoter](../../README.md), which promotes image versions through the environments of GitOps repositories.

` + "```sh" + `
helm install promoter charts/promoter --namespace gitops --values values.yaml
` + "```" + `

[Install promoter](../../docs/operate/install.md) has complete values for the service and for the CronJob, and
[the chart](../README.md) lists the objects that it creates. There is no default for ` + "`image.repository`" + `, and ` + "`config`" + ` needs a forge.

## Values

Generated from ` + "`values.yaml`" + ` by ` + "`go test ./internal/chartcheck -update`" + `. Unknown values are errors.

| value | type | default | description |
|---|---|---|---|
`

// rows writes a row for each value, and one for each group of values that has a description.
func rows(t *testing.T, page *strings.Builder, prefix string, values, schema *yaml.Node) {
	t.Helper()
	for i := 0; i < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		name, constraints := prefix+key.Value, child(child(schema, "properties"), key.Value)
		about := strings.ReplaceAll(description(key, value), "|", `\|`)
		if group(constraints) {
			if about != "" {
				fmt.Fprintf(page, "| **`%s`** | | | %s |\n", name, about)
			}
			rows(t, page, name+".", value, constraints)
			continue
		}
		if about == "" {
			t.Errorf("values.yaml does not describe %s: write a comment above it or in its line", name)
		}
		fmt.Fprintf(page, "| `%s` | %s | `%s` | %s |\n", name, typeOf(constraints), compact(t, value), about)
	}
}

// group reports whether the chart defines the keys of an object.
func group(schema *yaml.Node) bool {
	extra := child(schema, "additionalProperties")
	return extra != nil && extra.Value == "false"
}

// typeOf describes the type of a value, or what it may be.
func typeOf(schema *yaml.Node) string {
	var words []string
	if enum := child(schema, "enum"); enum != nil {
		for _, one := range enum.Content {
			words = append(words, "`"+one.Value+"`")
		}
		return strings.Join(words, ", ")
	}
	name := child(schema, "type")
	switch {
	case name == nil && reference(schema) == "#/definitions/resources":
		return "object"
	case name == nil:
		return "quantity" // the other definition
	case name.Kind == yaml.SequenceNode:
		for _, one := range name.Content {
			words = append(words, one.Value)
		}
		return strings.Join(words, " or ")
	case name.Value == "array":
		return "list"
	default:
		return name.Value
	}
}

// reference is the definition that a schema refers to; empty: none.
func reference(schema *yaml.Node) string {
	if at := child(schema, "$ref"); at != nil {
		return at.Value
	}
	return ""
}

// schemas returns the schemas of values in their order. Those of new values have a type only.
func schemas(known, values *yaml.Node) *yaml.Node {
	properties := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		schema := child(known, key.Value)
		if schema == nil {
			schema = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("type"), text(inferred(value))}}
			if value.Kind == yaml.MappingNode && len(value.Content) > 0 {
				set(schema, "additionalProperties", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
				set(schema, "properties", &yaml.Node{Kind: yaml.MappingNode})
			}
		}
		if about := description(key, value); about != "" {
			set(schema, "description", text(about))
		}
		if group(schema) {
			set(schema, "properties", schemas(child(schema, "properties"), value))
		} else {
			set(schema, "default", value)
		}
		properties.Content = append(properties.Content, text(key.Value), schema)
	}
	return properties
}

// inferred is the type of a value in JSON Schema.
func inferred(value *yaml.Node) string {
	switch value.ShortTag() {
	case "!!map":
		return "object"
	case "!!seq":
		return "array"
	case "!!bool":
		return "boolean"
	case "!!int":
		return "integer"
	default:
		return "string"
	}
}

var example = regexp.MustCompile(`(?m)^#(   .*)?\n?$`)

// description is the comment of a value in one line, without examples.
func description(key, value *yaml.Node) string {
	comment := example.ReplaceAllString(key.HeadComment, "") + "\n" + key.LineComment + "\n" + value.LineComment
	about := strings.Join(strings.Fields(strings.ReplaceAll(comment, "# ", "")), " ")
	if about == "" {
		return ""
	}
	return strings.ToUpper(about[:1]) + about[1:]
}

// parsed reads a YAML or JSON file of the chart.
func parsed(t *testing.T, name string) *yaml.Node {
	t.Helper()
	content, err := os.ReadFile(folder + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return document.Content[0]
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// child returns the value of a key; nil: there is none.
func child(of *yaml.Node, key string) *yaml.Node {
	if of == nil {
		return nil
	}
	for i := 0; i < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			return of.Content[i+1]
		}
	}
	return nil
}

// set replaces the value of a key, or appends it.
func set(of *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			of.Content[i+1] = value
			return
		}
	}
	of.Content = append(of.Content, text(key), value)
}

// compact is a node as JSON in one line.
func compact(t *testing.T, node *yaml.Node) string {
	t.Helper()
	switch node.Kind {
	case yaml.MappingNode:
		var members []string
		for i := 0; i < len(node.Content); i += 2 {
			members = append(members, compact(t, node.Content[i])+": "+compact(t, node.Content[i+1]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	case yaml.SequenceNode:
		var elements []string
		for _, element := range node.Content {
			elements = append(elements, compact(t, element))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	if node.ShortTag() != "!!str" {
		return node.Value
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(node.Value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(quoted.String())
}

func asJSON(t *testing.T, node *yaml.Node) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(compact(t, node)), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}
