package lex

import (
	"strings"
	"testing"
)

func TestMaskActions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: b\n":                          "a: b\n",
		"{{ if .é }}\na: b\n{{ end }}\n":  "\na: b\n\n",
		"a: {{ .x }}y\n":                  "a: ########y\n",
		"a: {{ \"}}\" }}\n":               "a: ##########\n",
		"  {{- /* a\n{{ b */ -}}\na: b\n": "\n\na: b\n",
		"\ufeff{{ .é }}\r\na: b":          "\ufeff\r\na: b",
		"a: {{ .é }}\r\n":                 "a: ########\r\n",
	} {
		masked, found := MaskActions([]byte(text))
		if got := strings.ReplaceAll(string(masked), string(Mask), "#"); !found || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, found, want)
		}
	}
	for _, text := range []string{"a: {{ .x\n", "a: {{ \"x }}\n", "a: " + string(Mask)} {
		if masked, found := MaskActions([]byte(text)); found {
			t.Errorf("%q: got %q", text, masked)
		}
	}
}
