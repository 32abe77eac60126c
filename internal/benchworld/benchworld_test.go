package benchworld_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

func start(t *testing.T) *benchworld.World {
	t.Helper()
	w, err := benchworld.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// ask asks the registry, and returns the digest that it tells and the body.
func ask(t *testing.T, w *benchworld.World, method, path string) (digest, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+w.Host+"/v2/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d, %v", method, path, response.StatusCode, err)
	}
	return response.Header.Get("Docker-Content-Digest"), string(text)
}

func TestRelease_movesTheTagOfOneImage(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := benchworld.Digest("acme/web", 0)
	for _, tag := range []string{benchworld.MovingTag, benchtree.Tag, first} {
		if digest, _ := ask(t, w, http.MethodHead, "acme/web/manifests/"+tag); digest != first {
			t.Errorf("%s is at %s, want %s", tag, digest, first)
		}
	}
	w.Release("acme/web")
	second := benchworld.Digest("acme/web", 1)
	if first == second || second == benchworld.Digest("acme/other", 1) || w.Released("acme/web") != 1 || w.Released("acme/other") != 0 {
		t.Errorf("released: %d, %d; digests: %s, %s", w.Released("acme/web"), w.Released("acme/other"), first, second)
	}
	for reference, want := range map[string]string{benchworld.MovingTag: second, "2.0.1": second, second: second, benchtree.Tag: first, first: first} {
		digest, body := ask(t, w, http.MethodGet, "acme/web/manifests/"+reference)
		if digest != want || !json.Valid([]byte(body)) {
			t.Errorf("%s is at %s, want %s: %s", reference, digest, want, body)
		}
	}
	if _, body := ask(t, w, http.MethodGet, "acme/web/tags/list"); body != `{"name":"acme/web","tags":["released","1.4.2","2.0.1"]}` {
		t.Errorf("the tags are %s", body)
	}
	want := map[string]int{"HEAD manifests": 3, "GET manifests": 5, "GET tags": 1}
	if diff := cmp.Diff(want, w.Asked()); diff != "" || len(w.Asked()) != 0 {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"acme/web": 3}, w.Heads()); diff != "" || len(w.Heads()) != 0 {
		t.Errorf("HEADs (-want +got):\n%s", diff)
	}
}

func TestPlumbing_pushesTheTag(t *testing.T) {
	t.Parallel()
	w, size := start(t), benchtree.Size{Applications: 2, Environments: 2}
	if err := w.Tree(t.Context(), "bench/tree.git", size); err != nil {
		t.Fatal(err)
	}
	hand, err := benchworld.NewPlumbing(t.Context(), "http://"+w.Host+"/bench/tree.git", t.TempDir(), w.Host+"/"+benchtree.ImagePath(1), size.Environments)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"2.0.1", "2.0.2"} {
		if err := hand.Event(t.Context(), tag); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := w.Git(t.Context(), "bench/tree.git", "grep", "-c", "newTag: \"2.0.2\"", "main"); err != nil || strings.Count(found, ":1") != size.Environments {
		t.Errorf("the tag is in %s, %v", found, err)
	}
	other, err := benchworld.NewPlumbing(t.Context(), "http://"+w.Host+"/bench/tree.git", t.TempDir(), "absent", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Event(t.Context(), "2.0.1"); err == nil {
		t.Error("an image that is in no file is not noticed")
	}
}

func TestTree_isServedAndTakesPushes(t *testing.T) {
	t.Parallel()
	w, size := start(t), benchtree.Size{Applications: 2, Environments: 2}
	if err := w.Tree(t.Context(), "bench/tree.git", size); err != nil {
		t.Fatal(err)
	}
	listed, err := w.Git(t.Context(), "bench/tree.git", "ls-tree", "-r", "--name-only", "main")
	if n := strings.Count(listed, "\n") + 1; err != nil || n != size.Len()+1 {
		t.Errorf("%d files, %v:\n%s", n, err, listed)
	}
	image := strings.Replace(benchtree.Image(0), benchtree.Registry, w.Host, 1)
	if found, err := w.Git(t.Context(), "bench/tree.git", "grep", "-l", image, "main"); err != nil || strings.Count(found, "\n")+1 != size.Environments {
		t.Errorf("the image stands in %s, %v", found, err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	for _, words := range [][]string{
		{"clone", "-q", "http://" + w.Host + "/bench/tree.git", clone},
		{"-C", clone, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "--allow-empty", "-m", "pushed"},
		{"-C", clone, "push", "-q", "origin", "main"},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", words...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", words, err, out)
		}
	}
	if count, err := w.Git(t.Context(), "bench/tree.git", "rev-list", "--count", "main"); err != nil || count != "2" {
		t.Errorf("%s commits, %v", count, err)
	}
	if _, err := w.Git(t.Context(), "bench/tree.git", "rev-parse", "--verify", "nowhere"); err == nil {
		t.Error("what Git refuses is no error")
	}
}
