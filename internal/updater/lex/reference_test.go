package lex

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"v1 é":                   "v1 é",
		"a\nb\x1b[31m\u202e":     "a b[31m",
		strings.Repeat("é", 121): strings.Repeat("é", 119) + "…",
	} {
		if got := Shorten(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestVariableStart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "a${b}": 1, "ab$(c)": 2, "{{ a }}": 0, "$a": 2, "a$(b)${c}": 1} {
		if got := variableStart(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
