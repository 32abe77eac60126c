package app_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/app"
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
		"dev/blog same: holds this already",
		"dev/shop proposed: newer: web 1.4.0 -> 1.5.0",
		"staging/blog no reference: the files hold no reference to a followed component; the environment before has web 1.5.0",
		"staging/shop proposed: dev has: web 1.3.0 -> 1.4.0",
		"prod/blog absent: blog has no files in prod",
		"prod/shop proposed: staging has: web 1.2.0 -> 1.3.0",
	)
	if places, files, changes := preview.Count(); places != 3 || files != 3 || changes != 3 {
		t.Errorf("counted %d places, %d files, %d changes", places, files, changes)
	}
	if !preview.Changed() || preview.Troubled() {
		t.Errorf("changed %v, troubled %v", preview.Changed(), preview.Troubled())
	}
}

func TestPlan_S05_aRegistryThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":       webConfig,
		"apps/shop/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	w.answer(func(response http.ResponseWriter, _ *http.Request) { response.WriteHeader(http.StatusForbidden) })
	_, preview := w.plan(w.options())
	if len(preview.Errors) != 1 || preview.Errors[0].Component != "web" || fault.KindOf(preview.Errors[0].Err) != fault.Unauthorised {
		t.Errorf("errors: %+v", preview.Errors)
	}
	if preview.Changed() || !preview.Troubled() {
		t.Errorf("changed %v, troubled %v", preview.Changed(), preview.Troubled())
	}
}

// A child asks about the tags of its parents. Without an answer the rest is shown,
// and it is said.
func TestPlan_aRegistryThatDoesNotAnswerAChild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":           webConfig,
		"apps/shop/dev/a.yaml":     "image: $R/acme/web:1.5.0\n",
		"apps/shop/staging/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	w.answer(func(response http.ResponseWriter, _ *http.Request) { response.WriteHeader(http.StatusForbidden) })
	options := w.options()
	options.Environments = []string{"staging"}
	preview := w.expect(options, "staging/shop proposed: dev has: web 1.4.0 -> 1.5.0")
	if len(preview.Errors) != 1 || preview.Errors[0].Component != "web" {
		t.Errorf("errors: %+v", preview.Errors)
	}
}

// Only what takes its version from a registry is asked about, once.
func TestPlan_asksOnlyWhereNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}, only: {environments: [prod]}}
  unused: {image: $R/acme/unused, select: {semver: ">=1"}}
environments:
  dev: {paths: [dev]}
  prod: {paths: [prod], after: [dev]}
`,
		"dev/a.yaml":  "image: $R/acme/web:1.4.0\nother: $R/acme/foreign:1.0.0\n",
		"dev/b.yaml":  "image: $R/acme/web:1.4.0\n",
		"prod/a.yaml": "a: $R/acme/web:1.4.0\nb: $R/acme/worker:1.0.0\n",
	})
	w.push("acme/web:1.4.0", "one")
	w.push("acme/worker:1.0.0", "one")
	w.expect(w.options(), "dev/default same: holds this already", "prod/default same: holds this already")
	if n := w.questions("acme/web"); n == 0 || n > 4 {
		t.Errorf("web was asked about %d times", n)
	}
	for _, silent := range []string{"acme/worker", "acme/unused", "acme/foreign"} {
		if n := w.questions(silent); n > 0 {
			t.Errorf("%s was asked about %d times", silent, n)
		}
	}

	// A child alone asks for no offers at all.
	w.asked = nil
	options := w.options()
	options.Environments = []string{"prod"}
	w.expect(options, "prod/default same: holds this already")
	if len(w.asked) > 0 {
		t.Errorf("asked: %q", w.asked)
	}

	// Given versions ask nothing, whatever they are.
	options = w.options()
	options.Given = w.given("$R/acme/web:9.9.9", "$R/acme/missing:1")
	preview := w.expect(options,
		"dev/default proposed: asked for: web 1.4.0 -> 9.9.9",
		"prod/default same: holds this already")
	if len(w.asked) > 0 {
		t.Errorf("asked: %q", w.asked)
	}
	if len(preview.Unused) != 1 || preview.Unused[0].Path() != "acme/missing" {
		t.Errorf("unused: %v", preview.Unused)
	}
}

// Two tags of one digest are no roll-out: the registry answers that.
func TestPlan_M01_factsAreAskedAndAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":           webConfig,
		"apps/shop/dev/a.yaml":     "image: $R/acme/web:1.5.0\n",
		"apps/shop/staging/a.yaml": "image: $R/acme/web:stable\n",
	})
	w.push("acme/web:1.5.0", "same")
	w.push("acme/web:stable", "same")
	w.expect(w.options(),
		"dev/shop same: holds this already",
		"staging/shop same: holds this already",
		"prod/shop absent: shop has no files in prod")
	w.push("acme/web:stable", "other")
	w.expect(w.options(),
		"dev/shop same: holds this already",
		"staging/shop proposed: dev has: web stable -> 1.5.0",
		"prod/shop absent: shop has no files in prod")
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
	options.Environments = []string{"production"}
	_, _, err := w.tryPlan(t.Context(), options)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "--env production: the config has no such environment") {
		t.Errorf("error: %v", err)
	}
}

func TestPlan_Y22_aRefusedFileStopsItsPlaceAsAWhole(t *testing.T) {
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
	checkout, preview := w.plan(w.options())
	for _, place := range preview.Places {
		refused := place.Environment == "dev" && place.Application == "shop"
		if (place.State == "refused") != refused || refused && (len(place.Files) > 0 || len(place.Changes) > 0) {
			t.Errorf("%s/%s: %s with %d files", place.Environment, place.Application, place.State, len(place.Files))
		}
	}
	if !preview.Troubled() {
		t.Error("a refusal is no trouble")
	}
	applied, err := checkout.Apply(t.Context(), preview)
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
		options := app.Options{Given: w.given("quay.io/acme/web:2"), Paths: []string{glob}, Now: w.options().Now}
		_, preview := w.plan(options)
		var got []string
		for _, place := range preview.Places {
			for _, file := range place.Files {
				got = append(got, file.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", glob, diff)
		}
	}
	options := w.options()
	options.Given, options.Paths = w.given("quay.io/acme/web:2"), []string{"a/["}
	if _, _, err := w.tryPlan(t.Context(), options); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a glob that is none: %v", err)
	}
}

// Environments may share files when they follow different components in them.
func TestPlan_onlyAndSharedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}, only: {environments: [front]}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}, only: {environments: [back]}}
environments:
  front: {paths: [apps]}
  back: {paths: [apps]}
`,
		"apps/a.yaml": "one: $R/acme/web:1.0.0 # w\ntwo: $R/acme/worker:1.0.0\n",
		"apps/b.yaml": "two: $R/acme/worker:1.0.0\n",
	})
	w.push("acme/web:1.1.0", "web")
	w.push("acme/worker:1.2.0", "worker")
	checkout, preview := w.plan(w.options())
	w.compare(preview,
		"front/default proposed: newer: web 1.0.0 -> 1.1.0",
		"back/default proposed: newer: worker 1.0.0 -> 1.2.0")
	applied, err := checkout.Apply(t.Context(), preview)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apps/a.yaml", "apps/a.yaml", "apps/b.yaml"}, applied.Files); diff != "" {
		t.Error(diff)
	}
	want := w.expand("one: $R/acme/web:1.1.0 # w\ntwo: $R/acme/worker:1.2.0\n")
	if diff := cmp.Diff(want, w.read("apps/a.yaml")); diff != "" {
		t.Error(diff)
	}
	w.expect(w.options(), "front/default same: holds this already", "back/default same: holds this already")
}

func TestPlan_patternsAndOverrides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  teams: {image: "$R/team-*/**", select: {semver: ">=1"}}
  special: {image: $R/team-a/special, select: {semver: "<2"}}
applications:
  slow:
    environments:
      dev: {propose: manual}
environments:
  dev: {paths: ["apps/{application}"]}
`,
		"apps/fast/a.yaml": "a: $R/team-a/web:1.0.0\nb: $R/team-b/x/y:1.0.0\nc: $R/team-a/special:1.0.0\nd: $R/other/web:1.0.0\n",
		"apps/slow/a.yaml": "a: $R/team-a/web:1.0.0\n",
	})
	for _, repository := range []string{"team-a/web", "team-b/x/y", "team-a/special", "other/web"} {
		w.push(repository+":1.5.0", "old")
		w.push(repository+":2.5.0", "new")
	}
	preview := w.expect(w.options(),
		"dev/fast proposed: newer: special 1.0.0 -> 1.5.0, team-a-web-HASH 1.0.0 -> 2.5.0, team-b-x-y-HASH 1.0.0 -> 2.5.0",
		"dev/slow waiting: propose is manual: waits until a person asks for it")
	if preview.Places[1].Changed() {
		t.Error("what waits would be written")
	}
	if n := w.questions("other/web"); n > 0 {
		t.Errorf("a repository that nothing follows was asked about %d times", n)
	}
	options := w.options()
	options.Environments = []string{"dev"}
	_, preview = w.plan(options)
	if place := preview.Places[1]; !place.Changed() {
		t.Errorf("asked for by name: %s: %s", place.State, place.Reason)
	}
}

func TestPlan_Y11_configuredPlaces(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".promoter.yaml": `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev:
    paths: ["apps/{application}"]
    write:
      - {file: "apps/{application}/v.yaml", path: app.version, component: web, value: "{tag}"}
      - {file: "apps/{application}/v.yaml", path: app.label, component: web, value: "{environment}-{application}-{version}", create: true}
      - {file: "apps/{application}/notes.txt", regex: "release ([0-9.]+)", component: web, value: "{version}"}
`,
		"apps/shop/a.yaml":    "image: $R/acme/web:1.0.0\n",
		"apps/shop/v.yaml":    "app:\n  version: \"1.0.0\" # here\n",
		"apps/shop/notes.txt": "now release 1.0.0, web\n",
	}
	w := newWorld(t, files)
	w.push("acme/web:1.1.0", "new")
	applied := w.apply(w.options())
	if diff := cmp.Diff([]string{"apps/shop/a.yaml", "apps/shop/notes.txt", "apps/shop/v.yaml"}, applied.Files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("app:\n  version: \"1.1.0\" # here\n  label: \"dev-shop-1.1.0\"\n", w.read("apps/shop/v.yaml")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("now release 1.1.0, web\n", w.read("apps/shop/notes.txt")); diff != "" {
		t.Error(diff)
	}
	if again := w.apply(w.options()); len(again.Files) > 0 {
		t.Errorf("Y-16 the second run wrote %q", again.Files)
	}

	// Y-11 a key that is missing is an error by default, and so is a file.
	for name, content := range map[string]string{"a missing key": "app: {}\n", "a missing file": ""} {
		other := newWorld(t, files)
		other.push("acme/web:1.1.0", "new")
		if content == "" {
			other.write("apps/shop/w.yaml", "x: 1\n")
			other.write(".promoter.yaml", strings.ReplaceAll(files[".promoter.yaml"], "notes.txt", "gone.txt"))
		} else {
			other.write("apps/shop/v.yaml", content)
		}
		_, preview := other.plan(other.options())
		if place := preview.Places[0]; place.State != "refused" || place.Changed() {
			t.Errorf("%s: %s: %s", name, place.State, place.Reason)
		}
	}
}

func TestPlan_chartsAreComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  shop: {chart: "oci://$R/charts/shop", select: {semver: ">=1"}}
environments:
  dev: {}
`,
		"app.yaml": `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop}
spec:
  source:
    repoURL: $R/charts
    chart: shop
    targetRevision: 1.0.0
`,
	})
	w.push("charts/shop:1.0.0", "old")
	w.push("charts/shop:1.1.0", "new")
	w.apply(w.options())
	if got := w.read("app.yaml"); !strings.Contains(got, "targetRevision: 1.1.0\n") {
		t.Errorf("the chart's version stays:\n%s", got)
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
		w.answer(func(_ http.ResponseWriter, request *http.Request) {
			cancel()
			<-request.Context().Done()
		})
		_, preview, err := w.tryPlan(ctx, w.options())
		if !errors.Is(err, context.Canceled) || preview != nil {
			t.Errorf("%v, %v", preview, err)
		}
	})
}

// A file that vanishes after it was found stops its own application.
func TestPlan_aFileVanishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":       webConfig,
		"apps/shop/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
		"apps/blog/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	w.push("acme/web:1.5.0", "new")
	options := w.options()
	options.Environments = []string{"dev"}
	options.Progress = func(app.Progress) {
		if err := os.Remove(filepath.Join(w.dir, "apps/blog/dev/a.yaml")); err != nil {
			t.Error(err)
		}
	}
	_, preview := w.plan(options)
	blog, shop := preview.Places[0], preview.Places[1]
	if blog.State != "refused" || !strings.Contains(blog.Reason.String(), "apps/blog/dev/a.yaml: cannot be read again: ") || blog.Changed() {
		t.Errorf("%s: %s", blog.State, blog.Reason)
	}
	if !shop.Changed() {
		t.Errorf("%s: %s", shop.State, shop.Reason)
	}
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
	options.Progress = func(p app.Progress) {
		if p.Total != 3 || p.Doing != "asking registries" {
			t.Errorf("progress: %+v", p)
		}
		done = append(done, p.Done)
	}
	w.plan(options)
	if !slices.Equal(done, []int{1, 2, 3}) {
		t.Errorf("progress: %v", done)
	}
}

func TestPlan_fileLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"large.yaml": "image: quay.io/acme/web:1\n" + strings.Repeat("# filler\n", 100),
		"other.yaml": "image: quay.io/acme/other:1\n" + strings.Repeat("# filler\n", 100),
	})
	options := w.options()
	options.Given, options.MaxFileSize = w.given("quay.io/acme/web:2"), 100
	_, preview := w.plan(options)
	if refusals := preview.Places[0].Refusals; len(refusals) != 1 || refusals[0].File != "large.yaml" {
		t.Errorf("refusals: %v", refusals)
	}
	for _, limit := range []int64{-1, 32<<20 + 1} {
		options.MaxFileSize = limit
		if _, _, err := w.tryPlan(t.Context(), options); fault.KindOf(err) != fault.Invalid {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestPlan_foldersOfOddForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"tree/a.yaml":         "image: quay.io/acme/web:1\n",
		"tree/ü \n\x1b.yaml":  "image: quay.io/acme/web:1\n",
		"tree/.git/a.yaml":    "image: quay.io/acme/web:1\n",
		"tree/x/.git/b.yaml":  "image: quay.io/acme/web:1\n",
		"tree/-dash/--x.yaml": "image: quay.io/acme/web:1\n",
		"tree/\xff\xfe.yaml":  "image: quay.io/acme/web:1\n",
	})
	given := w.given("quay.io/acme/web:2")
	link := filepath.Join(t.TempDir(), "link")
	symlink(t, filepath.Join(w.dir, "tree"), link)
	for _, dir := range []string{"tree", "tree/", "tree/.", "tree/x/.."} {
		checkFolder(t, w.dir+"/"+dir, given)
	}
	checkFolder(t, link, given)
	checkFolder(t, link+"/", given)
}

func checkFolder(t *testing.T, dir string, given app.Given) {
	t.Helper()
	checkout, err := app.OpenCheckout(dir, given)
	if err != nil {
		t.Fatal(err)
	}
	preview, err := checkout.Plan(t.Context(), app.Options{Given: given, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, file := range preview.Places[0].Files {
		files = append(files, file.Path)
	}
	want := []string{"-dash/--x.yaml", "a.yaml", "ü \n\x1b.yaml", "\xff\xfe.yaml"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("%s (-want +got):\n%s", dir, diff)
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
