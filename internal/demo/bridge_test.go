package demo

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"promoter/internal/secret"
)

// The tests of cmd/promoter cover the bridge in both directions with an
// independent emulator. These tests cover forge errors.

// canned is a forge with one fixed response per request, "METHOD /path".
type canned map[string]string

func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, known := c[r.Method+" "+strings.TrimPrefix(r.URL.Path, "/repos/ann/r")]
	if !known {
		w.WriteHeader(http.StatusNotFound)
		text = `{"message":"Not Found"}`
	}
	_, _ = io.WriteString(w, text)
}

// bridged returns a repository with one commit on main, and a bridge to the
// forge.
func bridged(t *testing.T, forge http.Handler) (*bridge, *hub, plumbing.Hash) {
	t.Helper()
	h, err := newHub(t.TempDir() + "/gitops.git")
	if err != nil {
		t.Fatal(err)
	}
	ann, err := newPerson("ann", t.TempDir(), h, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	id, err := ann.push(t.Context(), tree{"a/b.yaml": "1"}, "Begin")
	if err != nil {
		t.Fatal(err)
	}
	b := &bridge{forge: annAt(t, forge), path: "/repos/ann/r", storer: h.repository.Storer, both: map[plumbing.Hash]bool{}}
	return b, h, plumbing.NewHash(id)
}

// annAt returns the user's account at a forge.
func annAt(t *testing.T, forge http.Handler) account {
	t.Helper()
	server := httptest.NewServer(forge)
	t.Cleanup(server.Close)
	client, err := newClient(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return account{client: client, api: server.URL, token: secret.New("token-ann"), login: "ann"}
}

func wantError(t *testing.T, what string, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want %q", what, err, words)
	}
}

// told returns the list of branches with main at a commit.
func told(id plumbing.Hash) string {
	return fmt.Sprintf(`[{"ref":"refs/heads/main","object":{"sha":"%s"}}]`, id)
}

func TestAPushThatTheForgeDoesNotTakeIsNone(t *testing.T) {
	t.Parallel()
	forge := canned{}
	b, h, begin := bridged(t, forge)
	create := []*packp.Command{{Name: "refs/heads/other", New: begin}}
	wantError(t, "no branches", b.push(t.Context(), create), "answers GET /repos/ann/r/git/matching-refs/heads/")
	forge["GET /git/matching-refs/heads/"] = told(begin)
	moved := []*packp.Command{{Name: "refs/heads/main", Old: plumbing.NewHash(strings.Repeat("1", 40)), New: begin}}
	wantError(t, "a branch that moved", b.push(t.Context(), moved), "main moved meanwhile")
	wantError(t, "no blobs", b.push(t.Context(), create), `answers POST /repos/ann/r/git/blobs with 404: "Not Found"`)
	forge["POST /git/blobs"] = `{"sha":"4711"}`
	wantError(t, "another id", b.push(t.Context(), create), `the forge computes the id "4711" for what is 56a6051ca2b02b04ef92d5150c9ef600403cb1de in Git`)
	forge["POST /git/blobs"] = `no JSON`
	wantError(t, "no answer of the API", b.push(t.Context(), create), "is none of GitHub's API")
	if _, err := h.repository.Reference("refs/heads/other", false); err == nil {
		t.Error("the branch is here")
	}
}

func TestWhatTheForgeTellsIsChecked(t *testing.T) {
	t.Parallel()
	forge := canned{}
	b, h, begin := bridged(t, forge)
	there := plumbing.NewHash(strings.Repeat("2", 40))
	forge["GET /git/matching-refs/heads/"] = told(there)
	commit := "GET /git/commits/" + there.String()
	wantError(t, "a commit that is not there", b.bring(t.Context()), "bring refs/heads/main: the forge answers GET /repos/ann/r/git/commits/222")
	head, err := h.repository.CommitObject(begin)
	if err != nil {
		t.Fatal(err)
	}
	forge[commit] = fmt.Sprintf(`{"message":"Another","tree":{"sha":"%s"},"parents":[{"sha":"%s"}],"author":{"name":"ann","email":"a@b","date":"2026-01-01T00:00:00.5Z"}}`, head.TreeHash, begin)
	wantError(t, "another commit", b.bring(t.Context()), "what the forge tells of 2222222222222222222222222222222222222222 is ")
	odd := strings.Repeat("3", 40)
	forge[commit] = fmt.Sprintf(`{"message":"Another","tree":{"sha":"%s"}}`, odd)
	forge["GET /git/trees/"+odd] = `{"tree":[{"path":"a","mode":"100644","type":"blob","sha":"` + odd + `"}]}`
	forge["GET /git/blobs/"+odd] = `{"content":"MQ=="}`
	wantError(t, "another blob", b.bring(t.Context()), "is 56a6051ca2b02b04ef92d5150c9ef600403cb1de in Git")
	forge["GET /git/blobs/"+odd] = `{"content":"?"}`
	wantError(t, "no base64", b.bring(t.Context()), "the blob 333")
	forge["GET /git/trees/"+odd] = `{"tree":[{"path":"a","mode":"odd"}]}`
	wantError(t, "no mode", b.bring(t.Context()), "the tree 333")
	if ref, err := h.repository.Reference(mainBranch, false); err != nil || ref.Hash() != begin {
		t.Errorf("main is %v, %v", ref, err)
	}
}

// TestABranchThatIsGoneThereGoesHere checks both sides after a branch was
// deleted at the forge.
func TestABranchThatIsGoneThereGoesHere(t *testing.T) {
	t.Parallel()
	forge := canned{}
	b, h, begin := bridged(t, forge)
	forge["GET /git/matching-refs/heads/"] = told(begin)
	if err := h.repository.Storer.SetReference(plumbing.NewHashReference("refs/heads/old", begin)); err != nil {
		t.Fatal(err)
	}
	if err := b.bring(t.Context()); err != nil {
		t.Fatal(err)
	}
	if refs, err := h.refs(); err != nil || refs != begin.String()+" refs/heads/main\nref: refs/heads/main HEAD" {
		t.Errorf("the branches are\n%s, %v", refs, err)
	}
}

func TestStatusesStandInOnlyWhereThereAreNone(t *testing.T) {
	t.Parallel()
	const path = "/repos/ann/r/commits/c/statuses"
	for _, lacking := range []bool{true, false} {
		forge := canned{}
		if !lacking {
			forge["GET /commits/c/statuses"] = `[]`
		}
		g := &github{promoter: annAt(t, forge), path: "/repos/ann/r", statuses: &statuses{by: "promoter-bot", said: map[string][]body{}}}
		if err := g.lookForStatuses(t.Context(), "c"); err != nil || g.statuses.needed.Load() != lacking {
			t.Fatalf("lacking %t: %t, %v", lacking, g.statuses.needed.Load(), err)
		}
		handed := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		seen := annAt(t, g.statuses.before(handed))
		var list []struct {
			Context, State string
			Creator        struct{ Login string }
		}
		if err := seen.ask(t.Context(), "GET", "/repos/ann/r/pulls", nil, nil); err == nil {
			t.Error("pull requests are not handed on")
		}
		err := seen.ask(t.Context(), "GET", path, nil, &list)
		if !lacking {
			wantError(t, "handed on", err, "with 418")
			continue
		}
		if err != nil || list == nil || len(list) != 0 {
			t.Errorf("at first %v, %v", list, err)
		}
		for _, state := range []string{"pending", "success"} {
			if err := seen.ask(t.Context(), "POST", "/repos/ann/r/statuses/c", body{"context": "promoter", "state": state}, nil); err != nil {
				t.Error(err)
			}
		}
		err = seen.ask(t.Context(), "GET", path, nil, &list)
		if err != nil || len(list) != 2 || list[0].State != "success" || list[1].Creator.Login != "promoter-bot" {
			t.Errorf("then %+v, %v", list, err)
		}
	}
}
