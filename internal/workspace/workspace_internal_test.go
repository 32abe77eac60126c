package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scan"
	"promoter/internal/serverfile"
	"promoter/internal/state"
	"promoter/internal/updater"
)

// gitRepository makes a bare repository with the files on main, and returns its
// URL and a clone of it.
func gitRepository(t testing.TB, files map[string]string) (url, clone string) {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "gitops.git")
	clone = filepath.Join(t.TempDir(), "clone")
	runGit(t, "", "init", "-q", "--bare", "-b", "main", bare)
	runGit(t, "", "clone", "-q", bare, clone)
	runGit(t, clone, "checkout", "-q", "-b", "main")
	commitFiles(t, clone, files, "begin")
	runGit(t, clone, "push", "-q", "origin", "main")
	return "file://" + bare, clone
}

func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir = dir
	command.Env = gitEnv()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// gitEnv keeps the person's own settings out.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.com")
}

func commitFiles(t testing.TB, clone string, files map[string]string, message string) string {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(clone, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, clone, "add", "-A")
	runGit(t, clone, "commit", "-qm", message)
	return runGit(t, clone, "rev-parse", "HEAD")
}

func noEnv(string) (string, bool) { return "", false }

// openWorkspace opens the workspace of a repository without a server file.
func openWorkspace(t testing.TB, url string) *Workspace {
	t.Helper()
	return workspaceOf(t, serverfile.Options{Repositories: []string{url}, Env: noEnv, Now: time.Now})
}

// openSession opens all repositories.
func openSession(t testing.TB, connections *connect.Connections, cache string) *connect.Session {
	t.Helper()
	session, err := connections.Open(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// workspaceOf opens the workspace of the one repository that the options name.
func workspaceOf(t testing.TB, options serverfile.Options) *Workspace {
	t.Helper()
	connections, err := connect.Connect(options)
	if err != nil {
		t.Fatal(err)
	}
	w := openSession(t, connections, "")
	l, err := Open(t.Context(), w, w.Repositories[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func fetchMain(t testing.TB, l *Workspace) string {
	t.Helper()
	if _, err := l.Reconciler.Clients.Remote.Refs(t.Context()); err != nil {
		t.Fatal(err)
	}
	heads, err := l.Reconciler.Clients.Remote.Fetch(t.Context(), "main", "gone")
	if err != nil || len(heads) != 1 {
		t.Fatalf("got %v, %v, want main alone", heads, err)
	}
	return heads["main"]
}

func TestWorkspace_commitPushAndLostRace(t *testing.T) {
	t.Parallel()
	url, clone := gitRepository(t, map[string]string{"a.yaml": "image: r.example.com/web:1\n", "keep": "x"})
	l := openWorkspace(t, url)
	head := fetchMain(t, l)
	if want := runGit(t, clone, "rev-parse", "HEAD"); head != want {
		t.Fatalf("main is %s, want %s", head, want)
	}
	id, err := l.Reconciler.Clients.Objects.Write(repo.Draft{
		Parent: head, Files: map[string][]byte{"a.yaml": []byte("image: r.example.com/web:2\n"), "keep": nil},
		By:      repo.Signature{Name: "promoter", Email: "p@example.com", When: time.Unix(1_700_000_000, 0)},
		Message: "Move web", Trailers: []promotion.Trailer{{Key: "Promoter-Environment", Value: "dev"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := l.Reconciler.Clients.Objects.Changed(head, id)
	if diff := cmp.Diff([]string{"a.yaml", "keep"}, changed); err != nil || diff != "" {
		t.Errorf("changed: %v %s", err, diff)
	}
	if err := l.Reconciler.Clients.Remote.Push(t.Context(), repo.Update{Branch: "main", Old: head, New: id}); err != nil {
		t.Fatal(err)
	}
	late := l.Reconciler.Clients.Remote.Push(t.Context(), repo.Update{Branch: "main", Old: head, New: id})
	if fault.KindOf(late) != fault.Conflict {
		t.Errorf("a push on a commit that moved gives %v, want a conflict", late)
	}
	commit, err := l.Reconciler.Clients.Objects.Commit(fetchMain(t, l))
	if err != nil || commit.ID != id || len(commit.Trailers) != 1 || commit.Committer.Name != "promoter" {
		t.Errorf("main is %+v, %v", commit, err)
	}
	if _, err := l.Reconciler.Clients.Objects.Read(id, "keep", 10); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the file that went gives %v", err)
	}
}

func TestWorkspace_historyEndsWhereItIsShallow(t *testing.T) {
	t.Parallel()
	url, clone := gitRepository(t, map[string]string{"a": "1"})
	for _, content := range []string{"2", "3"} {
		commitFiles(t, clone, map[string]string{"a": content}, content)
	}
	runGit(t, clone, "push", "-q", "origin", "main")
	l := openWorkspace(t, url)
	count := func() (n int, last repo.Commit) {
		for commit, err := range l.Reconciler.Clients.Objects.History(fetchMain(t, l)) {
			if err != nil {
				t.Fatal(err)
			}
			n, last = n+1, commit
		}
		return n, last
	}
	if n, last := count(); n != 1 || !last.Shallow {
		t.Errorf("a first fetch shows %d commits, want the shallow head alone", n)
	}
	if err := l.Reconciler.Clients.Remote.Deepen(t.Context(), "main", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if n, last := count(); n != 3 || last.Shallow {
		t.Errorf("after deepening there are %d commits, want 3", n)
	}
}

// An empty list of files would mean that nothing is on hold.
func TestObjects_aStateThatCannotBeReadHolds(t *testing.T) {
	t.Parallel()
	url, clone := gitRepository(t, map[string]string{"prod/_all.json": "{}", "README": "words"})
	l := openWorkspace(t, url)
	head := fetchMain(t, l)
	var names []string
	for name := range l.Reconciler.Clients.Objects.All(head) {
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"README", "prod/_all.json"}, names); diff != "" {
		t.Error(diff)
	}
	missing := strings.Repeat("1", 40)
	read, err := state.Read(l.Reconciler.Clients.Objects.All(missing))
	if err != nil {
		t.Fatal(err)
	}
	if _, held := read.Held(state.Target{Environment: "prod", Application: "shop"}, time.Now()); !held {
		t.Errorf("a state branch that cannot be read holds nothing; head of %s", clone)
	}
}

const twoEnvironments = `version: 1
components:
  web: {image: r.example.com/acme/web, select: {semver: ">=1"}}
  worker: {image: r.example.com/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["apps/{application}/dev"]}
  prod: {paths: ["apps/{application}/prod"], after: [dev]}
`

func twoApplications() map[string]string {
	files := map[string]string{config.FileName: twoEnvironments, "README.md": "image: r.example.com/acme/web:0.1.0"}
	for _, application := range []string{"shop", "blog"} {
		for _, environment := range []string{"dev", "prod"} {
			files["apps/"+application+"/"+environment+"/web.yaml"] = "image: r.example.com/acme/web:1.0.0\n"
			files["apps/"+application+"/"+environment+"/worker.yaml"] = "image: r.example.com/acme/worker:1.0.0 # x\n"
		}
	}
	return files
}

func TestFiles_targetsAndRewrite(t *testing.T) {
	t.Parallel()
	url, clone := gitRepository(t, twoApplications())
	l := openWorkspace(t, url)
	head := fetchMain(t, l)
	loaded, problems := config.Load(config.FileName, []byte(twoEnvironments))
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	tree, err := l.Reconciler.Clients.Files.At(t.Context(), loaded, head, []string{"dev", "prod"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targetsOnDisk(t, clone, loaded), tree.Targets(), cmp.Comparer(func(a, b image.Repository) bool { return a == b })); diff != "" {
		t.Errorf("a commit has other targets than its checkout:\n%s", diff)
	}
	target := promotion.Target{Environment: "dev", Application: "shop"}
	moves := []promotion.Move{{Component: "worker", To: image.Version{Tag: "1.1.0"}}}
	rewritten, err := tree.Rewrite(t.Context(), target, moves)
	if err != nil || len(rewritten.Refusals) > 0 || len(rewritten.Changes) != 1 {
		t.Fatalf("got %+v, %v", rewritten, err)
	}
	want := map[string][]byte{"apps/shop/dev/worker.yaml": []byte("image: r.example.com/acme/worker:1.1.0 # x\n")}
	if diff := cmp.Diff(want, rewritten.Files); diff != "" {
		t.Error(diff)
	}
}

// targetsOnDisk scans the folder of a clone.
func targetsOnDisk(t *testing.T, dir string, loaded *config.Config) map[promotion.Target]promotion.Current {
	t.Helper()
	files := func(yield func(updater.File, error) bool) {
		err := filepath.WalkDir(filepath.Join(dir, "apps"), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			path, err := filepath.Rel(dir, name)
			if err == nil && !yield(updater.File{Path: path, Read: func() ([]byte, error) { return os.ReadFile(name) }}, nil) {
				err = fs.SkipAll
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	tree, err := scan.Files(t.Context(), scan.Request{Config: loaded, Environments: loaded.Order()}, files)
	if err != nil {
		t.Fatal(err)
	}
	return tree.Targets
}

func TestFiles_refusalStopsOnlyItsTarget(t *testing.T) {
	t.Parallel()
	files := twoApplications()
	files["apps/shop/dev/broken.yaml"] = "<<<<<<< a\nimage: r.example.com/acme/web:1.0.0\n=======\n>>>>>>> b\n"
	url, _ := gitRepository(t, files)
	l := openWorkspace(t, url)
	loaded, _ := config.Load(config.FileName, []byte(twoEnvironments))
	tree, err := l.Reconciler.Clients.Files.At(t.Context(), loaded, fetchMain(t, l), []string{"dev", "prod"})
	if err != nil {
		t.Fatal(err)
	}
	moves := []promotion.Move{{Component: "web", To: image.Version{Tag: "1.1.0"}}}
	for application, refused := range map[string]bool{"shop": true, "blog": false} {
		rewritten, err := tree.Rewrite(t.Context(), promotion.Target{Environment: "dev", Application: application}, moves)
		if err != nil || (len(rewritten.Refusals) > 0) != refused || (len(rewritten.Files) > 0) == refused {
			t.Errorf("%s: %+v, %v", application, rewritten, err)
		}
	}
}

func TestMirrorFolder_tellsKeysApart(t *testing.T) {
	t.Parallel()
	s := &connect.Session{}
	folders := []string{mirrorFolder(s, "github.com/1"), mirrorFolder(s, "github.com/12"), mirrorFolder(s, "git:https://h/a")}
	slices.Sort(folders)
	if len(slices.Compact(folders)) != 3 {
		t.Errorf("got %v", folders)
	}
}

// A push of a few kilobytes can list a million long paths: a tree whose entries are many
// times the same subtree. Listing stops at the limit, and the branch fails alone. As the
// state branch, it holds everything.
func TestMirror_listingStopsAtItsLimits(t *testing.T) {
	t.Parallel()
	url, clone := gitRepository(t, map[string]string{"README": "words"})
	long := strings.Repeat("x", 200)
	mktree := func(n int, mode, kind, id string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "%s %s %s\t%s%04d\n", mode, kind, id, long, i)
		}
		return strings.TrimSpace(gittest.ExecWithInput(t, clone, text.String(), "mktree"))
	}
	tree := mktree(100, "100644", "blob", strings.TrimSpace(gittest.ExecWithInput(t, clone, "{}", "hash-object", "-w", "--stdin")))
	for range 2 {
		tree = mktree(100, "040000", "tree", tree)
	}
	head := runGit(t, clone, "commit-tree", "-m", "a million files", tree)
	runGit(t, clone, "push", "-q", "-f", "origin", head+":refs/heads/main")
	l := openWorkspace(t, url)
	if got := fetchMain(t, l); got != head {
		t.Fatalf("fetched %s", got)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := l.mirror.List(t.Context(), head)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "or more than 64 MiB of paths") {
		t.Errorf("the list: %v", err)
	}
	read, err := state.Read(l.Reconciler.Clients.Objects.All(head))
	if err != nil {
		t.Fatal(err)
	}
	if _, held := read.Held(state.Target{Environment: "prod", Application: "shop"}, time.Now()); !held {
		t.Error("the state holds nothing")
	}
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 400 {
		t.Errorf("%d MiB were allocated", allocated)
	}
}
