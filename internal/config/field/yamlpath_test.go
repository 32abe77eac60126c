package field

import (
	"errors"
	"testing"
)

func TestParseYAMLPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]error{
		"tag": nil, "spec.image.tag": nil, "images[0].tag": nil, "[12][3]": nil, "a b.c-d_e": nil, "a[0][1].b": nil,
		"images[name=quay.io/acme/web].newTag": nil,
		`a["example.com/b.c"].d`:               nil,
		`a."b.c".d`:                            nil,
		`['x]y']`:                              nil,
		"":                                     errPathEmpty,
		"a.":                                   errPathEmpty,
		"a..b":                                 errPathEmpty,
		`a[""]`:                                errPathEmpty,
		".":                                    errPathStart,
		".a":                                   errPathStart,
		"$.a":                                  errPathStart,
		"a[":                                   errPathBracket,
		`a["b"`:                                errPathBracket,
		`a["b]`:                                errPathQuote,
		`a."b`:                                 errPathQuote,
		"a[]":                                  errPathInner,
		"a[-1]":                                errPathInner,
		"a[x]":                                 errPathInner,
		"a[=b]":                                errPathInner,
		"a[b=]":                                errPathInner,
		"a[0]b":                                errPathAfter,
		"a.[0]":                                errPathAfter,
		`"a"b`:                                 errPathAfter,
	} {
		if _, got := ParseYAMLPath(path); !errors.Is(got, want) {
			t.Errorf("%s: %v; want %v", path, got, want)
		}
	}
}

func FuzzParseYAMLPath(f *testing.F) {
	for _, seed := range []string{"a.b", "a[0].b", "a[b=c]", `a["b.c"]`, `a."b"`, "a[", "..", "[[["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := ParseYAMLPath(path)
		if err == nil && (len(steps) == 0 || len(steps) > len(path) || path[0] == '.') {
			t.Errorf("%q is accepted", path)
		}
	})
}
