package checkout_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
)

func TestPlan_aRegistryThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":       webConfig,
		"apps/shop/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	w.registry.Replace(func(response http.ResponseWriter, _ *http.Request) { response.WriteHeader(http.StatusForbidden) })
	_, preview := w.plan(w.options())
	if len(preview.Errors) != 1 || preview.Errors[0].Component != "web" || fault.KindOf(preview.Errors[0].Err) != fault.Unauthorized {
		t.Errorf("errors: %+v", preview.Errors)
	}
	if preview.Changed() || !preview.Failed() {
		t.Errorf("changed %v, troubled %v", preview.Changed(), preview.Failed())
	}
}

// A child resolves the tags of its parents. Without a response the other targets are
// printed, and the error is reported.
func TestPlan_aRegistryThatDoesNotAnswerAChild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":           webConfig,
		"apps/shop/dev/a.yaml":     "image: $R/acme/web:1.5.0\n",
		"apps/shop/staging/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	w.registry.Replace(func(response http.ResponseWriter, _ *http.Request) { response.WriteHeader(http.StatusForbidden) })
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
	w.expect(w.options(), "dev/default same: already up to date", "prod/default same: already up to date; no upstream environment references worker")
	if n := w.registry.RequestsFor("acme/web"); n == 0 || n > 4 {
		t.Errorf("web was asked about %d times", n)
	}
	for _, silent := range []string{"acme/worker", "acme/unused", "acme/foreign"} {
		if n := w.registry.RequestsFor(silent); n > 0 {
			t.Errorf("%s was asked about %d times", silent, n)
		}
	}

	// A child alone asks for no offers at all.
	w.registry.Forget()
	options := w.options()
	options.Environments = []string{"prod"}
	w.expect(options, "prod/default same: already up to date; no upstream environment references worker")
	if len(w.registry.Requests()) > 0 {
		t.Errorf("asked: %q", w.registry.Requests())
	}

	// Given versions ask nothing, whatever they are.
	options = w.options()
	options.Explicit = w.given("$R/acme/web:9.9.9", "$R/acme/missing:1")
	preview := w.expect(options,
		"dev/default proposed: requested: web 1.4.0 -> 9.9.9",
		"prod/default same: already up to date; no upstream environment references worker")
	if len(w.registry.Requests()) > 0 {
		t.Errorf("asked: %q", w.registry.Requests())
	}
	if len(preview.Unused) != 1 || preview.Unused[0].Path() != "acme/missing" {
		t.Errorf("unused: %v", preview.Unused)
	}
}

// Two tags of one digest are no roll-out: the registry answers that.
func TestPlan_factsAreAskedAndAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":           webConfig,
		"apps/shop/dev/a.yaml":     "image: $R/acme/web:1.5.0\n",
		"apps/shop/staging/a.yaml": "image: $R/acme/web:1.5.0-rc.1\n",
	})
	w.push("acme/web:1.5.0", "same")
	w.push("acme/web:1.5.0-rc.1", "same")
	w.expect(w.options(),
		"dev/shop same: already up to date",
		"staging/shop proposed: web 1.5.0-rc.1 -> 1.5.0 (same digest)",
		"prod/shop absent: shop has no files in prod")
	w.push("acme/web:1.5.0-rc.1", "other")
	w.expect(w.options(),
		"dev/shop same: already up to date",
		"staging/shop proposed: dev has: web 1.5.0-rc.1 -> 1.5.0",
		"prod/shop absent: shop has no files in prod")
}

// A changed image costs three requests, and no more where a child follows: the list of its
// tags, the digest of the tag that would be written, and the manifest, which shows that it is no
// chart. The files show that of a tag that they have.
func TestPlan_threeRequestsForAChangedImage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dev, staging string
		want         []string
	}{
		"unchanged":              {"1.5.0", "1.5.0", []string{"GET tags/list", "HEAD manifests/1.5.0"}},
		"changed":                {"1.4.0", "1.4.0", []string{"GET manifests/", "GET tags/list", "HEAD manifests/1.5.0"}},
		"changed, with a digest": {"1.4.0@$D", "1.4.0@$D", []string{"GET manifests/", "GET tags/list", "HEAD manifests/1.5.0"}},
		"a child is behind":      {"1.5.0", "1.4.0", []string{"GET tags/list", "HEAD manifests/1.5.0"}},
		"a less precise tag":     {"1.5", "1.5", []string{"GET manifests/", "GET tags/list", "HEAD manifests/1.5", "HEAD manifests/1.5.0"}},
		"a tag of another line":  {"stable", "stable", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			digest := w.push("acme/web:1.4.0", "one")
			w.push("acme/web:1.5.0", "two")
			w.push("acme/web:1.5", "two")
			w.push("acme/web:stable", "two")
			w.write(".promoter.yaml", webConfig)
			w.write("apps/shop/dev/a.yaml", "image: $R/acme/web:"+strings.ReplaceAll(test.dev, "$D", digest)+"\n")
			w.write("apps/shop/staging/a.yaml", "image: $R/acme/web:"+strings.ReplaceAll(test.staging, "$D", digest)+"\n")
			if _, preview := w.plan(w.options()); preview.Failed() {
				t.Fatalf("errors: %+v", preview.Errors)
			}
			var got []string
			for _, request := range w.registry.Requests() {
				if request != "GET /v2/" { // one for each host
					request, _, _ = strings.Cut(request, "sha256:")
					got = append(got, strings.Replace(request, "/v2/acme/web/", "", 1))
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
