package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFindHabits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 140)
	tests := []struct {
		name, body string
		want       []string
	}{
		{"one thought per statement", "a, b := 1, 2\nc, d, e := three()\n_ = cmp.Or(a, b)", nil},
		{"three values at once", "a, b, c := 1, 2, 3\nvar d, e, f = 1, 2, 3", []string{"4 parallel", "5 parallel"}},
		{"an error is passed on once", "if err == nil {\nerr = f()\n}", []string{"4 while"}},
		{"with another condition", "if n > 0 && err == nil {\nn, err = f()\n}", []string{"4 while"}},
		{"a chain", "if err == nil {\nerr = f()\n}\nif err == nil {\nerr = g()\n}\nif err == nil {\nerr = h()\n}", []string{"4 chain", "4 while", "7 while", "10 while"}},
		{"what is returned early", "if err != nil {\nerr = f()\n}\nif err == nil {\nreturn\n} else {\nerr = nil\n}", nil},
		{"two effects", "return errors.Join(f(), g())", []string{"4 calls"}},
		{"a close after an error", "return errors.Join(f(), file.Close(), db.Close())", nil},
		{"comparisons", "return cmp.Or(cmp.Compare(a, b), strings.Compare(c, d), v.Compare(w))", nil},
		{"a long line", "// " + long, []string{"4 line"}},
		{"a long line with tabs", "\t\t" + strings.Repeat("x", 125) + "()", nil},
		{"a long statement", "f(" + long + ",\n" + long + ")", []string{"4 line", "4 statement", "5 line"}},
		{"a long condition", "if " + long[:100] + " &&\n" + long[:100] + " {\nf()\n}", []string{"4 statement"}},
		{"a literal on many lines", "v := T{\n" + long[:100] + ",\n" + long[:100] + ",\n}", nil},
		{"a function in a call", "f(func() {\n" + long[:100] + "()\n" + long[:100] + "()\n})", nil},
	}
	short := map[habit]string{longLine: "line", longStatement: "statement", whileNoError: "while", errorChain: "chain", parallel: "parallel", calls: "calls"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree, err := readTree(fstest.MapFS{"a/a.go": {Data: []byte("package a\n\nfunc _() {\n" + test.body + "\n}\n")}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range tree.habits {
				got = append(got, fmt.Sprintf("%d %s", one.line, short[one.habit]))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckHabits_namesShippedCode(t *testing.T) {
	t.Parallel()
	habit := []byte("package a\n\nvar a, b, c = 1, 2, 3\n")
	tree, err := readTree(fstest.MapFS{"a/a.go": {Data: habit}, "a/a_test.go": {Data: habit}, "hack/b/b.go": {Data: habit}})
	if err != nil {
		t.Fatal(err)
	}
	want := "1 places of the shipped code put several thoughts into one statement:\na/a.go:3: three or more values are assigned at once"
	if err := tree.checkHabits(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
