package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// The demo's test in cmd/promoter covers the bridge in both directions with the
// emulator. These tests cover its errors.

// canned is an emulator with one fixed response per request, "METHOD /path".
type canned map[string]string

func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, known := c[r.Method+" "+strings.TrimPrefix(r.URL.Path, "/repos/ann/r")]
	if !known {
		w.WriteHeader(http.StatusNotFound)
		text = `{"message":"Not Found"}`
	}
	_, _ = io.WriteString(w, text)
}

func serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// bridged returns a repository whose copy has one commit on main.
func bridged(t *testing.T, emulator http.Handler) (repository, plumbing.Hash) {
	t.Helper()
	server := serve(t, emulator)
	r := newRepository("/repos/ann/r")
	r.emulator = api{client: server.Client(), url: server.URL, authorization: "Bearer token-ann"}
	blob := r.storer.NewEncodedObject()
	blob.SetType(plumbing.BlobObject)
	w, err := blob.Writer()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, "1")
	add := func(made plumbing.EncodedObject, encode func(plumbing.EncodedObject) error) plumbing.Hash {
		if encode != nil {
			if err := encode(made); err != nil {
				t.Fatal(err)
			}
		}
		id, err := r.storer.SetEncodedObject(made)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	tree := gitobject.Tree{Entries: []gitobject.TreeEntry{{Name: "a", Mode: filemode.Regular, Hash: add(blob, nil)}}}
	ann := gitobject.Signature{Name: "ann", Email: "ann@example.com", When: time.Unix(1_700_000_000, 0)}
	commit := gitobject.Commit{TreeHash: add(r.storer.NewEncodedObject(), tree.Encode), Author: ann, Committer: ann, Message: "Begin\n"}
	id := add(r.storer.NewEncodedObject(), commit.Encode)
	if err := r.storer.SetReference(plumbing.NewHashReference(plumbing.Main, id)); err != nil {
		t.Fatal(err)
	}
	return r, id
}

func wantError(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want %q", what, err, text)
	}
}

// mainAt returns the list of branches with main at a commit.
func mainAt(id plumbing.Hash) string {
	return fmt.Sprintf(`[{"ref":"refs/heads/main","object":{"sha":"%s"}}]`, id)
}

func TestRepository_pushFailsAtTheEmulator(t *testing.T) {
	t.Parallel()
	emulator := canned{}
	r, begin := bridged(t, emulator)
	create := []*packp.Command{{Name: "refs/heads/other", New: begin}}
	wantError(t, "no branches", r.push(t.Context(), create), "answers GET /repos/ann/r/git/matching-refs/heads/")
	emulator["GET /git/matching-refs/heads/"] = mainAt(begin)
	moved := []*packp.Command{{Name: "refs/heads/main", Old: plumbing.NewHash(strings.Repeat("1", 40)), New: begin}}
	wantError(t, "a branch that moved", r.push(t.Context(), moved), "main moved meanwhile")
	wantError(t, "no blobs", r.push(t.Context(), create), `answers POST /repos/ann/r/git/blobs with 404: "{\"message\":\"Not Found\"}"`)
	emulator["POST /git/blobs"] = `{"sha":"4711"}`
	wantError(t, "another ID", r.push(t.Context(), create), `the emulator computes the ID "4711" for 56a6051ca2b02b04ef92d5150c9ef600403cb1de`)
	emulator["POST /git/blobs"] = `no JSON`
	wantError(t, "invalid answer", r.push(t.Context(), create), "is not one of GitHub's API")
	if _, err := r.storer.Reference("refs/heads/other"); err == nil {
		t.Error("the branch was created locally")
	}
}

func TestRepository_fetchVerifiesObjects(t *testing.T) {
	t.Parallel()
	emulator := canned{}
	r, begin := bridged(t, emulator)
	there := plumbing.NewHash(strings.Repeat("2", 40))
	emulator["GET /git/matching-refs/heads/"] = mainAt(there)
	commit := "GET /git/commits/" + there.String()
	wantError(t, "a missing commit", r.fetch(t.Context()), "fetch refs/heads/main: the emulator answers GET /repos/ann/r/git/commits/222")
	head, err := gitobject.GetCommit(r.storer, begin)
	if err != nil {
		t.Fatal(err)
	}
	emulator[commit] = fmt.Sprintf(`{"message":"Another","tree":{"sha":"%s"},"parents":[{"sha":"%s"}],"author":{"name":"ann","email":"a@b","date":"2026-01-01T00:00:00.5Z"}}`, head.TreeHash, begin)
	wantError(t, "another commit", r.fetch(t.Context()), "the data of 2222222222222222222222222222222222222222 from the emulator is ")
	odd := strings.Repeat("3", 40)
	emulator[commit] = fmt.Sprintf(`{"message":"Another","tree":{"sha":"%s"}}`, odd)
	emulator["GET /git/trees/"+odd] = `{"tree":[{"path":"a","mode":"100644","type":"blob","sha":"` + odd + `"}]}`
	emulator["GET /git/blobs/"+odd] = `{"content":"MQ=="}`
	wantError(t, "another blob", r.fetch(t.Context()), "is 56a6051ca2b02b04ef92d5150c9ef600403cb1de in Git")
	emulator["GET /git/blobs/"+odd] = `{"content":"?"}`
	wantError(t, "invalid base64", r.fetch(t.Context()), "the blob 333")
	emulator["GET /git/trees/"+odd] = `{"tree":[{"path":"a","mode":"odd"}]}`
	wantError(t, "invalid mode", r.fetch(t.Context()), "the tree 333")
	if ref, err := r.storer.Reference(plumbing.Main); err != nil || ref.Hash() != begin {
		t.Errorf("main is %v, %v", ref, err)
	}
}

func TestRepository_fetchDeletesBranches(t *testing.T) {
	t.Parallel()
	emulator := canned{}
	r, begin := bridged(t, emulator)
	emulator["GET /git/matching-refs/heads/"] = mainAt(begin)
	if err := r.storer.SetReference(plumbing.NewHashReference("refs/heads/old", begin)); err != nil {
		t.Fatal(err)
	}
	if err := r.fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.storer.Reference("refs/heads/old"); err == nil {
		t.Error("the branch still exists")
	}
	if ref, err := r.storer.Reference(plumbing.Main); err != nil || ref.Hash() != begin {
		t.Errorf("main is %v, %v", ref, err)
	}
}

// open returns the API of a bridge to the emulator.
func open(t *testing.T, emulator canned) api {
	t.Helper()
	server := serve(t, emulator)
	handler, err := New(server.URL+"/", server.Client())
	if err != nil {
		t.Fatal(err)
	}
	bridge := serve(t, handler)
	return api{client: bridge.Client(), url: bridge.URL + apiPath, authorization: "Bearer token-ann"}
}

func TestBridge_keepsStatuses(t *testing.T) {
	t.Parallel()
	const path = "/repos/ann/r/commits/c/statuses"
	a := open(t, canned{"GET /user": `{"login":"promoter-bot"}`})
	var list []struct {
		Context, State string
		Creator        struct{ Login string }
	}
	if err := a.call(t.Context(), "GET", path, nil, &list); err != nil || list == nil || len(list) != 0 {
		t.Errorf("first %v, %v", list, err)
	}
	for _, state := range []string{"pending", "success"} {
		if err := a.call(t.Context(), "POST", "/repos/ann/r/statuses/c", object{"context": "promoter", "state": state}, nil); err != nil {
			t.Error(err)
		}
	}
	err := a.call(t.Context(), "GET", path, nil, &list)
	if err != nil || len(list) != 2 || list[0].State != "success" || list[1].Creator.Login != "promoter-bot" {
		t.Errorf("then %+v, %v", list, err)
	}
}

func TestBridge_collectsComments(t *testing.T) {
	t.Parallel()
	const list, reactions = "/repos/ann/r/issues/comments", "/repos/ann/r/issues/comments/2/reactions"
	emulator := canned{
		"GET /pulls":             `[{"number":1},{"number":2}]`,
		"GET /issues/1/comments": `[{"id":1,"updated_at":"2026-06-01T10:00:00.5Z"},{"id":3,"updated_at":"2026-06-01T12:00:00Z"}]`,
		"GET /issues/2/comments": `[{"id":2,"updated_at":"2026-06-01T11:00:00Z","html_url":"elsewhere"}]`,
	}
	a := open(t, emulator)
	var listed []struct {
		ID    int
		Issue string `json:"issue_url"`
		Page  string `json:"html_url"`
	}
	err := a.call(t.Context(), "GET", list+"?since=2026-06-01T11:00:00Z&page=1", nil, &listed)
	if err != nil || len(listed) != 2 || listed[0].ID != 2 || listed[1].ID != 3 ||
		!strings.HasSuffix(listed[0].Issue, "/repos/ann/r/issues/2") || !strings.HasSuffix(listed[0].Page, "/ann/r/pull/2") {
		t.Errorf("listed %+v, %v", listed, err)
	}
	if err := a.call(t.Context(), "GET", list+"?page=2", nil, &listed); err != nil || len(listed) != 0 {
		t.Errorf("a second page: %+v, %v", listed, err)
	}
	wantError(t, "an edit is forwarded", a.call(t.Context(), "PATCH", list+"/2", object{}, nil), "with 404")
	for _, want := range []int{http.StatusCreated, http.StatusOK} {
		text, _ := json.Marshal(object{"content": "+1"})
		response, err := a.client.Post(a.url+reactions, "application/json", strings.NewReader(string(text))) //nolint:noctx // the test ends it
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a reaction: %d, want %d", response.StatusCode, want)
		}
	}
	emulator["GET /issues/2/comments"] = `[{"id":2}]`
	wantError(t, "no time", a.call(t.Context(), "GET", list, nil, nil), "with 502")
}

func TestBridge_requiresATokenForGit(t *testing.T) {
	t.Parallel()
	a := open(t, canned{})
	for path, want := range map[string]int{
		"/ann/r.git/info/refs?service=git-upload-pack": http.StatusUnauthorized,
		"/ann/r/info/refs": http.StatusNotFound,
	} {
		response, err := a.client.Get(strings.TrimSuffix(a.url, apiPath) + path) //nolint:noctx // the test ends it
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
}
