package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
)

func TestParseYAMLPath(t *testing.T) {
	t.Parallel()
	key := func(k string) config.PathStep { return config.PathStep{Key: k} }
	for path, want := range map[string][]config.PathStep{
		"tag":            {key("tag")},
		"spec.image.tag": {key("spec"), key("image"), key("tag")},
		"images[0].tag":  {key("images"), {IsIndex: true}, key("tag")},
		"[12][3]":        {{IsIndex: true, Index: 12}, {IsIndex: true, Index: 3}},
		"images[name=quay.io/acme/web].newTag": {
			key("images"), {Key: "name", Equal: "quay.io/acme/web", Entry: true}, key("newTag"),
		},
		`a["example.com/b.c"].d`: {key("a"), key("example.com/b.c"), key("d")},
		`['x]y']`:                {key("x]y")},
		"a b.c-d_e":              {key("a b"), key("c-d_e")},
	} {
		got, err := config.ParseYAMLPath(path)
		if err != nil {
			t.Errorf("Y-20 %s: %v", path, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Y-20 %s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{"", ".", "a.", "a..b", ".a", "$.a", "a[", "a[]", "a[-1]", "a[x]", "a[=b]", "a[b=]", "a[0]b", "a.[0]", `a["b]`, `a["b"`} {
		if steps, err := config.ParseYAMLPath(path); err == nil {
			t.Errorf("%q is read as %v", path, steps)
		}
	}
}

func FuzzParseYAMLPath(f *testing.F) {
	for _, seed := range []string{"a.b", "a[0].b", "a[b=c]", `a["b.c"]`, "a[", "..", "[[["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := config.ParseYAMLPath(path)
		if err == nil && len(steps) == 0 {
			t.Errorf("%q has no steps", path)
		}
	})
}
