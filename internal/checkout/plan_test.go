package checkout_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/fault"
)

const webConfig = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["apps/{application}/dev"]}
  staging: {paths: ["apps/{application}/staging"], after: [dev]}
  prod: {paths: ["apps/{application}/prod"], after: [staging]}
`

func TestPlan_throughTheEnvironments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":             webConfig,
		"apps/shop/dev/a.yaml":       "image: $R/acme/web:1.4.0\n",
		"apps/shop/staging/a.yaml":   "image: $R/acme/web:1.3.0\n",
		"apps/shop/prod/a.yaml":      "image: $R/acme/web:1.2.0\n",
		"apps/blog/dev/a.yaml":       "image: $R/acme/web:1.5.0\n",
		"apps/blog/staging/a.yaml":   "nothing: here\n",
		"apps/elsewhere/none/a.yaml": "image: $R/acme/web:1.0.0\n",
	})
	for _, tag := range []string{"1.2.0", "1.3.0", "1.4.0", "1.5.0"} {
		w.push("acme/web:"+tag, tag)
	}
	preview := w.expect(w.options(),
		"dev/blog same: already up to date",
		"dev/shop proposed: newer: web 1.4.0 -> 1.5.0",
		"staging/blog no reference: no reference to a followed component; upstream has web 1.5.0",
		"staging/shop proposed: dev has: web 1.3.0 -> 1.4.0",
		"prod/blog absent: blog has no files in prod",
		"prod/shop proposed: staging has: web 1.2.0 -> 1.3.0",
	)
	if applications, files, changes := preview.Count(); applications != 1 || files != 3 || changes != 3 {
		t.Errorf("counted %d applications, %d files, %d changes", applications, files, changes)
	}
	if !preview.Changed() || preview.Failed() {
		t.Errorf("changed %v, troubled %v", preview.Changed(), preview.Failed())
	}
}

// A named child is compared with its parents, which are read and not shown.
func TestPlan_lineageOfANamedEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":           webConfig,
		"apps/shop/dev/a.yaml":     "image: $R/acme/web:1.5.0\n",
		"apps/shop/staging/a.yaml": "image: $R/acme/web:1.4.0\n",
		"apps/shop/prod/a.yaml":    "image: $R/acme/web:1.3.0\n",
	})
	w.push("acme/web:1.5.0", "new")
	w.push("acme/web:1.4.0", "old")
	options := w.options()
	options.Environments = []string{"prod", "staging", "prod"}
	w.expect(options,
		"staging/shop proposed: dev has: web 1.4.0 -> 1.5.0",
		"prod/shop proposed: staging has: web 1.3.0 -> 1.4.0")
	options.Environments = []string{"prd"}
	_, _, err := w.tryPlan(t.Context(), options)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "no environment prd (did you mean prod?); the environments are dev, staging, prod") {
		t.Errorf("error: %v", err)
	}
}

func TestPlan_aRefusedFileStopsItsPlaceAsAWhole(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".promoter.yaml":           webConfig,
		"apps/shop/dev/a.yaml":     "image: $R/acme/web:1.4.0\n",
		"apps/shop/dev/b.yaml":     "image: $R/acme/web:1.4.0\n  broken: [\n",
		"apps/blog/dev/a.yaml":     "image: $R/acme/web:1.4.0\n",
		"apps/shop/staging/a.yaml": "image: $R/acme/web:1.3.0\n",
	}
	w := newWorld(t, files)
	w.push("acme/web:1.5.0", "new")
	w.push("acme/web:1.4.0", "old")
	opened, preview := w.plan(w.options())
	for _, target := range preview.Targets {
		refused := target.Environment == "dev" && target.Application == "shop"
		if (target.State == "refused") != refused || refused && (len(target.Files) > 0 || len(target.Changes) > 0) {
			t.Errorf("%s/%s: %s with %d files", target.Environment, target.Application, target.State, len(target.Files))
		}
	}
	if !preview.Failed() {
		t.Error("a refusal is no trouble")
	}
	applied, err := opened.Apply(t.Context(), preview)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"apps/blog/dev/a.yaml", "apps/shop/staging/a.yaml"}
	if diff := cmp.Diff(want, applied.Files); diff != "" {
		t.Error(diff)
	}
	if got := w.read("apps/shop/dev/a.yaml"); got != w.expand(files["apps/shop/dev/a.yaml"]) {
		t.Errorf("a file of the refused application was written: %q", got)
	}
}

func TestPlan_narrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"a/x.yaml":     "image: quay.io/acme/web:1\n",
		"b/x.yaml":     "image: quay.io/acme/web:1\n",
		"b/c/x.yaml":   "image: quay.io/acme/web:1\n",
		"b/broken.yml": "image: quay.io/acme/web:1\n  x: [\n",
	})
	for glob, want := range map[string][]string{
		"a":          {"a/x.yaml"},
		"b/x.yaml":   {"b/x.yaml"},
		"**/x.yaml":  {"a/x.yaml", "b/c/x.yaml", "b/x.yaml"},
		"b/*/x.yaml": {"b/c/x.yaml"},
		"none/**":    nil,
	} {
		options := checkout.Options{Explicit: w.given("quay.io/acme/web:2"), Paths: []string{glob}, Now: w.options().Now}
		_, preview := w.plan(options)
		var got []string
		for _, target := range preview.Targets {
			for _, file := range target.Files {
				got = append(got, file.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", glob, diff)
		}
	}
	options := w.options()
	options.Explicit, options.Paths = w.given("quay.io/acme/web:2"), []string{"a/["}
	if _, _, err := w.tryPlan(t.Context(), options); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a glob that is none: %v", err)
	}
}

func TestPlan_cancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":       webConfig,
		"apps/shop/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	t.Run("before it starts", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, preview, err := w.tryPlan(ctx, w.options())
		if !errors.Is(err, context.Canceled) || preview != nil {
			t.Errorf("%v, %v", preview, err)
		}
	})
	t.Run("while the registry is asked", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		w.registry.Replace(func(_ http.ResponseWriter, request *http.Request) {
			cancel()
			<-request.Context().Done()
		})
		_, preview, err := w.tryPlan(ctx, w.options())
		if !errors.Is(err, context.Canceled) || preview != nil {
			t.Errorf("%v, %v", preview, err)
		}
	})
}

func TestPlan_progress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  all: {image: "$R/acme/*", select: {semver: ">=1"}}
environments:
  dev: {}
`,
		"a.yaml": "a: $R/acme/a:1\nb: $R/acme/b:1\nc: $R/acme/c:1\n",
	})
	options := w.options()
	var done []int
	options.Progress = func(doing string, n, total int) {
		if total != 3 || doing != "querying registries" {
			t.Errorf("progress: %s %d/%d", doing, n, total)
		}
		done = append(done, n)
	}
	w.plan(options)
	if !slices.Equal(done, []int{1, 2, 3}) {
		t.Errorf("progress: %v", done)
	}
}
