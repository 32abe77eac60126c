package suggest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysOf returns the keys of the families of the files.
func keysOf(files ...string) []string {
	var in []candidate
	for _, file := range files {
		if c := readPath(file, 1); len(c.readings) > 0 {
			in = append(in, c)
		}
	}
	var out []string
	for _, f := range families(in) {
		out = append(out, f.key)
	}
	return out
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"applications vary", []string{"apps/a/dev/k.yaml", "apps/b/prod/k.yaml"}, []string{"apps/?/" + environmentMark}},
		{"categories do not", []string{"apps/a/dev/k.yaml", "infra/a/dev/k.yaml"}, []string{"apps/?/" + environmentMark, "infra/?/" + environmentMark}},
		{"categories below", []string{"dev/apps/a/k.yaml", "prod/apps/a/k.yaml"}, []string{environmentMark + "/apps"}},
		{"a region below", []string{"dev/eu/a/k.yaml"}, []string{environmentMark + "/" + environmentMark}},
		{"an ambiguous word alone", []string{"test/k.yaml"}, nil},
		{"two ambiguous words", []string{"test/k.yaml", "live/k.yaml"}, []string{environmentMark}},
		{"an application in one stage only", []string{"web-dev/k.yaml", "api-prod/k.yaml"}, nil},
		{"the second reading", []string{"dev-tools/overlays/prod/k.yaml"}, []string{"?/overlays/" + environmentMark}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, keysOf(test.files...)); diff != "" {
				t.Errorf("layouts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSimplify(t *testing.T) {
	t.Parallel()
	got := simplify([]string{"prod/{application}", "dev", "prod/apps/{application}", "dev/apps", "dev", "devel"})
	if diff := cmp.Diff([]string{"prod/apps/{application}", "prod/{application}", "dev", "devel"}, got); diff != "" {
		t.Errorf("globs (-want +got):\n%s", diff)
	}
}

func TestBaseOf(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"apps/web/base/d.yaml": "apps/web", "base/d.yaml": "", "charts/web/values.yaml": "charts/web", "a/_base/b/c.yaml": "a",
	} {
		if got, ok := baseOf(file); !ok || got != want {
			t.Errorf("baseOf(%s) = %q, %t", file, got, ok)
		}
	}
	if got, ok := baseOf("apps/web/overlays/dev/k.yaml"); ok {
		t.Errorf("an overlay is a base of %q", got)
	}
}

func TestArrange_sandboxIsTheOnlyParent(t *testing.T) {
	t.Parallel()
	environments := []Environment{{Name: "prod", rank: rankProd}, {Name: "sandbox", rank: rankDev, sandbox: true}}
	arrange(environments, map[string]string{})
	if environments[0].Name != "sandbox" || !slices.Equal(environments[1].After, []string{"sandbox"}) {
		t.Errorf("got %+v", environments)
	}
}

func TestSimplify_dropsCovered(t *testing.T) {
	t.Parallel()
	for want, globs := range map[string][]string{
		"a/*/{application}":                        {"a/b/{application}", "a/*/{application}", "a/c/{application}/x"},
		"a/b/c/{application} a/*/{application}":    {"a/*/{application}", "a/b/c/{application}"},
		"a/{application}/b a/*/{application}":      {"a/{application}/b", "a/*/{application}"},
		"a/b/{application}.yaml a/*/{application}": {"a/b/{application}.yaml", "a/*/{application}"},
		"dev": {"dev/web", "dev", "dev/api/values.yaml"},
	} {
		if got := strings.Join(simplify(globs), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
