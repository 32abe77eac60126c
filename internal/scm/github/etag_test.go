package github

import (
	"errors"
	"net/http"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// conditional responds as GitHub does: "not modified" if the ETag matches.
func conditional(body, etag string, headers ...string) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == etag {
			says(http.StatusNotModified, "")(out, r)
			return
		}
		says(200, body, append(headers, "ETag: "+etag)...)(out, r)
	}
}

func TestCache_asksWithTheETag(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	pages := map[string]http.HandlerFunc{
		"":  conditional("["+pullJSON(7, "")+"]", `"a"`, `Link: <`+w.server.URL+repoPath+`/pulls?page=2>; rel="next"`),
		"2": conditional("["+pullJSON(8, "")+"]", `"b"`),
	}
	var full int
	w.on("GET "+repoPath+"/pulls", func(out http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == "" {
			full++
		}
		pages[r.URL.Query().Get("page")](out, r)
	})
	for range 3 {
		found, err := repository.PullRequests().Open(t.Context())
		if err != nil || len(found) != 2 || found[0].Number != 7 || found[1].Number != 8 {
			t.Fatalf("got %v, %v", found, err)
		}
	}
	if full != 2 {
		t.Errorf("%d answers were sent whole, want each page once", full)
	}
	pages["2"] = conditional("["+pullJSON(9, "")+"]", `"c"`)
	found, err := repository.PullRequests().Open(t.Context())
	if err != nil || len(found) != 2 || found[1].Number != 9 {
		t.Errorf("got %v, %v", found, err)
	}
}

// A reconciliation without changes reads everything without using the rate limit.
func TestCache_idlePass(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	var full []string
	for path, body := range map[string]string{
		repoPath: repositoryJSON, pullsPath: "[" + pullJSON(7, "") + "]", statusesPath: "[" + statusJSON("promoter", "pending", "promoter") + "]",
		runsPath: runsJSON(runJSON(1, 1, "build", "completed", "success")), reviewsPath: "[" + reviewJSON("ann", "User", "APPROVED") + "]",
		permissionPath("ann"): `{"permission":"write"}`, commentsPath: "[" + commentJSON(1, "promoter", marker, "2026-06-01T10:00:00Z") + "]",
	} {
		answer := conditional(body, `"`+path+`"`)
		w.on("GET "+path, func(out http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" {
				full = append(full, r.URL.Path)
			}
			answer(out, r)
		})
	}
	forge := w.forge()
	for pass := range 2 {
		full = nil
		repository, err := forge.Open(t.Context(), "acme/deploy")
		if err != nil {
			t.Fatal(err)
		}
		status := scm.Status{Context: "promoter", State: scm.CheckPending, Description: "d", URL: "https://ci.example.com/promoter"}
		_, open := repository.PullRequests().Open(t.Context())
		_, checks := repository.Signals().Checks(t.Context(), head)
		_, reviews := repository.Signals().Reviews(t.Context(), 7)
		err = errors.Join(open, checks, reviews, repository.Signals().SetStatus(t.Context(), head, status), repository.Conversation().Say(t.Context(), 7, marker, marker))
		if asked, _ := w.requests(); err != nil || len(asked) > 8 {
			t.Errorf("asked %v, %v", asked, err)
		}
		if pass > 0 && len(full) > 0 {
			t.Errorf("asked for the whole of %v again", full)
		}
	}
}

// A response to one credential is never returned to another, even by a server that
// only checks the ETag.
func TestCache_credentialsShareNothing(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	w.on("GET "+repoPath+"/pulls", func(out http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("If-None-Match") != "":
			says(http.StatusNotModified, "")(out, r)
		case r.Header.Get("Authorization") == "Bearer "+canary:
			says(200, "["+pullJSON(7, "")+"]", `ETag: "a"`)(out, r)
		default:
			says(404, `{"message":"Not Found"}`)(out, r)
		}
	})
	if _, err := repository.PullRequests().Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"another", ""} {
		w.mu.Lock()
		w.token = other
		w.mu.Unlock()
		found, err := repository.PullRequests().Open(t.Context())
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("the credential %q was told %v, %v", other, found, err)
		}
	}
}
