package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	forge := w.forge()
	path := "/repos/acme/web/compare/v1...v2"
	commit := func(i int) string {
		return fmt.Sprintf(`{"sha":"%040d","html_url":"https://github.com/c/%d","commit":{"message":"m%d","author":{"name":"Ann"},"committer":{"date":"2026-06-01T10:00:00Z"}}}`, i, i, i)
	}
	w.on("GET "+path, func(out http.ResponseWriter, r *http.Request) {
		numbered(w, path, 150, commit, func(list []string) string {
			return `{"total_commits":150,"html_url":"https://github.com/acme/web/compare/v1...v2","commits":` + inList(list) + `}`
		})(out, r)
	})
	got, err := forge.Compare(t.Context(), "acme/web", "v1", "v2", 120)
	if err != nil || len(got.Commits) != 120 || got.Total != 150 || got.URL != "https://github.com/acme/web/compare/v1...v2" {
		t.Fatalf("got %d of %d, %q, %v", len(got.Commits), got.Total, got.URL, err)
	}
	want := scm.Commit{ID: fmt.Sprintf("%040d", 119), Message: "m119", Author: "Ann", Committed: time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)}
	if diff := cmp.Diff(want, got.Commits[119]); diff != "" {
		t.Error(diff)
	}
	w.expect("GET "+path, "GET "+path)

	w.on("GET "+path, says(404, `{"message":"Not Found"}`))
	_, err = forge.Compare(t.Context(), "acme/web", "v1", "v2", 20)
	checkFault(t, err, fault.NotFound, "comparison in acme/web")
}

// Revisions come from untrusted images: none can change the route of the request.
func TestCompare_strangeRevisions(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	forge := w.forge()
	w.on("GET /repos/acme/web/compare/../../../../user...x?y#z", says(404, `{"message":"Not Found"}`))
	_, err := forge.Compare(t.Context(), "acme/web", "../../../../user", "x?y#z", 20)
	checkFault(t, err, fault.NotFound)
	w.expect("GET /repos/acme/web/compare/../../../../user...x?y#z") // escaped on the wire
	for _, test := range []struct {
		repository, from, to string
		limit                int
		kind                 fault.Kind
	}{
		{"acme/web", "", "v2", 1, fault.Invalid},
		{"acme/web", "v1", "", 1, fault.Invalid},
		{"acme/web", "v1", string(make([]byte, 300)), 1, fault.Invalid},
		{"acme/../x", "v1", "v2", 1, fault.Invalid},
		{"acme/web", "v1", "v2", 0, fault.Internal},
	} {
		_, err := forge.Compare(t.Context(), test.repository, test.from, test.to, test.limit)
		checkFault(t, err, test.kind, "comparison in")
	}
	w.expect()
}

func TestReleases(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	forge := w.forge()
	path := "/repos/acme/web/releases"
	w.on("GET "+path, numbered(w, path, 130, func(i int) string {
		return fmt.Sprintf(`{"tag_name":"v%d","draft":%t,"prerelease":%t}`, 200-i, i < 100, i == 101)
	}, inList))
	got, err := forge.Releases(t.Context(), "acme/web", 3)
	want := []scm.Release{{Tag: "v100"}, {Tag: "v99", Prerelease: true}, {Tag: "v98"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, err = forge.Releases(t.Context(), "acme", 3)
	checkFault(t, err, fault.Invalid, "OWNER/NAME")
	_, err = forge.Releases(t.Context(), "acme/web", 0)
	checkFault(t, err, fault.Internal, "limit")
	w.on("GET "+path, says(404, `{"message":"Not Found"}`))
	_, err = forge.Releases(t.Context(), "acme/web", 3)
	checkFault(t, err, fault.NotFound, "releases of acme/web")
}
