package attack

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/benchworld"
	"promoter/internal/state"
)

// world is the registry and the Git server of one attack, and two registries of the
// attacker.
type world struct {
	*benchworld.World
	folder  string
	hostile string // host of a registry whose lists of tags do not end
	slow    string // host of a registry that sends a page of tags every 25 seconds
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{folder: t.TempDir()}
	var err error
	if w.World, err = benchworld.Start(w.folder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	w.hostile = registry(t, 0)
	w.slow = registry(t, 25*time.Second)
	return w
}

// pageOf is how many tags a page of the attacker has.
const pageOf = 1000

// registry starts a registry that lists pages of new, long tags without an end. It has no
// image of any of them.
func registry(t testing.TB, delay time.Duration) string {
	t.Helper()
	closing := make(chan struct{})
	served := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v2/":
		case strings.HasSuffix(r.URL.Path, "/tags/list"):
			select {
			case <-time.After(delay):
			case <-r.Context().Done():
				return
			case <-closing:
				return
			}
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			tags := make([]string, pageOf)
			for i := range tags {
				tags[i] = fmt.Sprintf("1.%d.%d-%s", page, i, strings.Repeat("x", 100))
			}
			out.Header().Set("Link", fmt.Sprintf(`<%s?page=%d>; rel="next"`, r.URL.Path, page+1))
			_, _ = fmt.Fprintf(out, `{"name":"x","tags":["%s"]}`, strings.Join(tags, `","`))
		default:
			http.NotFound(out, r)
		}
	}))
	t.Cleanup(func() {
		close(closing)
		served.CloseClientConnections()
		served.Close()
	})
	return strings.TrimPrefix(served.URL, "http://")
}

// repository makes a repository and returns its name.
func (w *world) repository(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	if err := w.Repository(t.Context(), name+".git", files); err != nil {
		t.Fatal(err)
	}
	return name + ".git"
}

// follower makes a repository that follows an image by its moving tag.
func (w *world) follower(t testing.TB, name, image string) string {
	t.Helper()
	return w.repository(t, name, map[string]string{
		".promoter.yaml": fmt.Sprintf("version: 1\ncomponents:\n  c: {image: %s/%s, select: {tag: %s}, pin: tag+digest}\nenvironments:\n  dev: {land: push}\n",
			w.Host, image, benchworld.MovingTag),
		"pod.yaml": fmt.Sprintf("kind: Pod\nspec: {containers: [{image: \"%s/%s:%s@%s\"}]}\n",
			w.Host, image, benchworld.MovingTag, benchworld.Digest(image, 0)),
	})
}

// tangled makes a repository with four applications in environments that each follow all earlier ones.
// With 500 of them, its config is above the limit of parents; with 100, it is just below.
func (w *world) tangled(t testing.TB, name string, environments int) string {
	t.Helper()
	config := fmt.Sprintf("version: 1\ncomponents:\n  c: {image: %s/evil/image, select: {tag: %s}, pin: tag+digest}\nenvironments:\n", w.Host, benchworld.MovingTag)
	files := map[string]string{}
	var earlier []string
	for n := range environments {
		environment := fmt.Sprintf("e%d", n)
		config += fmt.Sprintf("  %s: {paths: [\"%s/{application}\"], land: push, after: [%s]}\n", environment, environment, strings.Join(earlier, ", "))
		earlier = append(earlier, environment)
		for application := range 4 {
			files[fmt.Sprintf("%s/%d/pod.yaml", environment, application)] = fmt.Sprintf("kind: Pod\nspec: {containers: [{image: \"%s/evil/image:%s@%s\"}]}\n",
				w.Host, benchworld.MovingTag, benchworld.Digest("evil/image", 0))
		}
	}
	files[".promoter.yaml"] = strings.Replace(config, ", after: []", "", 1)
	return w.repository(t, name, files)
}

// followsTags makes a repository with many components on a registry.
func (w *world) followsTags(t testing.TB, name string, components int, host, selection string) string {
	t.Helper()
	config, manifest := "version: 1\ncomponents:\n", ""
	for n := range components {
		config += fmt.Sprintf("  c%d: {image: %s/evil/image-%d, select: %s}\n", n, host, n, selection)
		manifest += fmt.Sprintf("---\nkind: Pod\nspec: {containers: [{image: \"%s/evil/image-%d:1.0.0\"}]}\n", host, n)
	}
	return w.repository(t, name, map[string]string{".promoter.yaml": config + "environments:\n  dev: {land: push}\n", "pods.yaml": manifest})
}

// git runs Git in a repository.
func (w *world) git(t testing.TB, name, input string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=evil", "-c", "user.email=evil@example.com"}, args...)...)
	command.Dir, command.Stdin = filepath.Join(w.folder, filepath.FromSlash(name)), strings.NewReader(input)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git %s: %v", args[0], err)
	}
	return strings.TrimSpace(string(out))
}

// pushMillionPaths sets a branch to a commit with a million long paths, of three trees.
func (w *world) pushMillionPaths(t testing.TB, name, branch string) {
	t.Helper()
	tree := func(mode, kind, id, extra string) string {
		var text strings.Builder
		for i := range 100 {
			fmt.Fprintf(&text, "%s %s %s\t%s%04d\n", mode, kind, id, strings.Repeat("x", 200), i)
		}
		return w.git(t, name, extra+text.String(), "mktree")
	}
	leaf := tree("100644", "blob", w.git(t, name, "{}", "hash-object", "-w", "--stdin"), "")
	top, extra := tree("040000", "tree", leaf, ""), ""
	if branch != state.Branch { // the config is still there
		extra = "100644 blob " + w.git(t, name, "", "rev-parse", branch+":.promoter.yaml") + "\t.promoter.yaml\n"
	}
	commit := w.git(t, name, "", "commit-tree", "-m", "paths", tree("040000", "tree", top, extra))
	w.git(t, name, "", "update-ref", "refs/heads/"+branch, commit)
}

// promoted waits until a repository runs the newest version of an image.
func (w *world) promoted(t testing.TB, name, image string) {
	t.Helper()
	wanted := benchworld.Digest(image, w.Released(image))
	for late := time.Now().Add(patience); time.Now().Before(late); <-time.After(50 * time.Millisecond) {
		if strings.Contains(w.git(t, name, "", "show", "main:pod.yaml"), wanted) {
			return
		}
	}
	t.Fatal("the victim was not promoted")
}
