package github

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

func draft() scm.Draft {
	return scm.Draft{Head: branchName, Base: "main", Title: "T", Body: "B"}
}

func TestSigner_credentialStaysAtTheAPI(t *testing.T) {
	t.Parallel()
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a stranger was asked for %s with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(stranger.Close)
	w := newWire(t)
	repository := w.open()
	w.on("GET "+repoPath+"/pulls", says(302, "", "Location: "+stranger.URL+"/pulls"))
	_, err := repository.PullRequests().Open(t.Context())
	checkFault(t, err, fault.Invalid, "redirects to", "refused")

	// A list may link to any URL as its next page.
	w.on("GET "+repoPath+"/pulls", says(200, "[]", `Link: <`+stranger.URL+`/pulls?page=2>; rel="next"`), says(200, "[]"))
	if _, err := repository.PullRequests().Open(t.Context()); err != nil {
		t.Error(err)
	}
}

// After a rename, reads are redirected, and writes are redirected with the same
// method.
func TestRedirect_renamed(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	w.on("GET "+repoPath+"/pulls", says(301, "", "Location: "+w.server.URL+"/repositories/42/pulls"))
	w.on("GET /repositories/42/pulls", says(200, "["+pullJSON(7, "")+"]"))
	w.on("POST "+repoPath+"/pulls", says(307, "", "Location: "+w.server.URL+"/repositories/42/pulls"))
	w.on("POST /repositories/42/pulls", says(201, pullJSON(8, "")))
	if found, err := repository.PullRequests().Open(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("got %v, %v", found, err)
	}
	w.requests()
	if opened, err := repository.PullRequests().Create(t.Context(), draft()); err != nil || opened.Number != 8 {
		t.Errorf("got %v, %v", opened, err)
	}
	if _, bodies := w.requests(); len(bodies) != 2 || bodies[0] != bodies[1] {
		t.Errorf("sent %q", bodies)
	}

	// net/http follows a redirected write with a GET.
	w.on("POST "+repoPath+"/pulls", says(301, "", "Location: "+w.server.URL+"/repositories/42/pulls"))
	_, err := repository.PullRequests().Create(t.Context(), draft())
	checkFault(t, err, fault.Conflict, "renamed or moved")
	w.on("GET "+repoPath+"/pulls", says(301, "", "Location: "+w.server.URL+repoPath+"/pulls"))
	_, err = repository.PullRequests().Open(t.Context())
	checkFault(t, err, fault.Temporary, "redirects more than")
}
