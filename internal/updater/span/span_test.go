package span

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSpan_styles(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // the stream, whose key a has the value; the text of the span
		"a: b":                       "b",
		"a: &x !!str # c\n  b # d\n": "b",
		"a: !<tag:x> 'b''c'\n":       "'b''c'",
		"a: \"b\\\"c\"\n":            `"b\"c"`,
		"a: \"b\n  c\"\n":            "\"b\n  c\"",
		"a: >-\n\n  b\n":             "",
		"a: |4\n    b\n":             "b",
		"a: b\n  c\n":                "",
		"é: {x: \"😀\", a: b}":        "b",
		"\ufeffa: b":                 "b",
		"x: y\r\na: b\r\n":           "b",
		"x: y\u0085a: b\u2028c: d":   "b",
		"{\"a\":\"b\\/c\"}":          `"b\/c"`,
		"a: \"b\u2028c\"\n":          "\"b\u2028c\"",
		"a: |-\r\n  b\r\nc: d\r\n":   "b",
		"a: \"\\x62\"\n":             `"\x62"`,
		"a: # c\n  b\n":              "b",
		"? a\n: b\n":                 "b",
		"a: \"b # c\"\n":             `"b # c"`,
	}
	for text, want := range cases {
		s, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		node := findKey(s.Documents[0], "a")
		found, err := s.Span(node)
		if err != nil {
			if want != "" {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if got := text[found.Start:found.End]; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func findKey(n *yaml.Node, key string) *yaml.Node {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == key {
			return child
		}
		if found := findKey(child, key); found != nil {
			return found
		}
	}
	return nil
}
