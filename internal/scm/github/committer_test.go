package github_test

import (
	"net/http"
	"strings"
	"testing"

	"promoter/internal/scm"
)

// The commits of an installation are by the account of the App, which is read once. While
// it cannot be read, there is no suggestion, and the repository can be opened.
func TestOpen_committer(t *testing.T) {
	t.Parallel()
	w := newAppWorld(t)
	forge := use(t, w.app, w.of.Install("acme", w.NewRepository("acme/gitops", nil)))
	committer := func() scm.Committer {
		repository, err := forge.Open(t.Context(), "acme/gitops")
		if err != nil {
			t.Fatal(err)
		}
		return repository.Info().Committer
	}
	w.Fail("GET /users/{user}", http.StatusNotFound, "Not Found")
	if got := committer(); got != (scm.Committer{}) {
		t.Errorf("got %+v", got)
	}
	host, _, _ := strings.Cut(w.Host(), ":")
	for range 2 {
		got := committer()
		number, rest, _ := strings.Cut(got.Email, "+")
		if got.Name != "promoter[bot]" || number == "" || strings.Trim(number, "0123456789") != "" || rest != "promoter[bot]@users.noreply."+host {
			t.Errorf("got %+v", got)
		}
	}
	if n := w.Traffic.Requests()["GET /users/{user}"]; n != 2 {
		t.Errorf("asked %d times", n)
	}
}
