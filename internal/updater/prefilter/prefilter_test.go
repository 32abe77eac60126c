package prefilter

import (
	"fmt"
	"slices"
	"testing"
)

func TestFilter_match(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 100)
	for i := range 100 {
		many = append(many, fmt.Sprintf("service-%04d", i))
	}
	for _, literals := range [][]string{{"service-0007", "web"}, append(many, "web")} {
		f := New(literals)
		for text, want := range map[string]bool{
			"image: x/service-0007:1": true, "service-0007": true, "service-000": false, "a": false, "": false, "x web y": true, "we b": false,
			"a: b # promoter: x": false, "service-service-0007": true, "service-1007": false,
		} {
			if got := f.Match([]byte(text)); got != want {
				t.Errorf("%d literals, %q: %t", len(literals), text, got)
			}
		}
	}
	for _, literals := range [][]string{nil, {"web", ""}} {
		if f := New(literals); !f.Match(nil) {
			t.Errorf("%q: content was excluded", literals)
		}
	}
}

func TestFilter_kind(t *testing.T) {
	t.Parallel()
	f := New(nil)
	for path, want := range map[string]Kind{
		"apps/Web.YAML": Manifest, "a/b.json": Manifest, "shop/Chart.lock": Manifest, "a.tpl": Template, "a": Unknown, "a.xyz": Unknown,
		".promoter.yaml": Skipped, "yarn.lock": Other, "Dockerfile": Other, "dockerfile.web.yaml": Other, "package-lock.json": Skipped, "a.md": Other,
		"README.md.gotmpl": Other, "run.sh.tpl": Other, "values.yaml.gotmpl": Template, "version.tpl": Template,
		".env": Env, "a/params.env": Env, ".env.prod": Env, ".env.example": Other, "x.properties": Env, "main.tf": Marked, "a.toml": Marked,
		"a.toml.tmpl": Other, ".terraform.lock.hcl": Marked,
	} {
		if got := f.Kind(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestFilter_positions(t *testing.T) {
	t.Parallel()
	many := []string{"web", "y"}
	for i := range 100 {
		many = append(many, fmt.Sprintf("service-%04d", i))
	}
	for text, want := range map[string][]int{
		"": nil, "x": nil, "web service-0007 web": {0, 4, 17}, "service-0007service-0008": {0, 12}, "webweb": {0, 3}, "service-000": nil,
	} {
		for _, literals := range [][]string{{"web", "service-0007", "service-0008"}, many} {
			if got := New(literals).Positions([]byte(text)); !slices.Equal(got, want) {
				t.Errorf("%d literals, %q: %v, want %v", len(literals), text, got, want)
			}
		}
	}
}

func TestIsProse(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"docs/a.md": true, "README": true, "README.md.gotmpl": true, "a.yaml": false, "x": false, "CHANGELOG": true, "md": false, "run.sh": false,
	} {
		if IsProse(file) != want {
			t.Errorf("%s: %t", file, !want)
		}
	}
}
