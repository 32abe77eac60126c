package bots

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parse returns the documents of a file.
func parse(content []byte) (documents []*yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		if len(document.Content) == 1 {
			documents = append(documents, document.Content[0])
		}
	}
}

// mappings calls a function with each mapping below a node. Aliases are not followed.
func mappings(node *yaml.Node, visit func(mapping *yaml.Node)) {
	if node.Kind == yaml.MappingNode {
		visit(node)
	}
	for _, child := range node.Content {
		mappings(child, visit)
	}
}

// get returns the value at a path of keys; nil if there is none.
func get(node *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var next *yaml.Node
		if node != nil && node.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == key {
					next = node.Content[i+1]
				}
			}
		}
		node = next
	}
	return node
}

// text returns the scalar at a path of keys; empty if there is none.
func text(node *yaml.Node, keys ...string) string {
	if value := get(node, keys...); value != nil && value.Kind == yaml.ScalarNode && value.Tag != "!!null" {
		return value.Value
	}
	return ""
}

// items returns the items of the list at a path of keys. A scalar is a list of one.
func items(node *yaml.Node, keys ...string) []*yaml.Node {
	switch value := get(node, keys...); {
	case value == nil || value.Tag == "!!null":
		return nil
	case value.Kind == yaml.SequenceNode:
		return value.Content
	case value.Kind == yaml.ScalarNode:
		return []*yaml.Node{value}
	}
	return nil
}

// texts returns the scalars of the list at a path of keys.
func texts(node *yaml.Node, keys ...string) (all []string) {
	for _, item := range items(node, keys...) {
		all = append(all, item.Value)
	}
	return all
}

// fromJSON5 turns JSON5 into YAML: it drops comments, turns tabs into spaces, and puts
// strings into double quotes. YAML has unquoted keys and trailing commas itself.
// https://spec.json5.org/
func fromJSON5(content []byte) []byte {
	var out strings.Builder
	for i := 0; i < len(content); i++ {
		rest := content[i:]
		switch c := content[i]; {
		case c == '"' || c == '\'':
			end := i + 1
			for end < len(content) && content[end] != c {
				if content[end] == '\\' {
					end++
				}
				end++
			}
			inside := string(content[i+1 : min(end, len(content))])
			if c == '\'' {
				inside = strings.NewReplacer(`\'`, `'`, `\\`, `\\`, `"`, `\"`).Replace(inside)
			}
			out.WriteString(`"` + inside + `"`)
			i = end
		case bytes.HasPrefix(rest, []byte("//")):
			for i+1 < len(content) && content[i+1] != '\n' {
				i++
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest, []byte("*/"))
			if end < 0 {
				end = len(rest)
			}
			i += end + 1
		case c == '\t':
			out.WriteByte(' ')
		case c == ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
	}
	return []byte(out.String())
}
