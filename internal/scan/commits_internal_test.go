package scan

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // names test commits
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/image"
	"promoter/internal/kept"
	"promoter/internal/promotion"
)

// memory is a Repository whose commits are folders in memory.
type memory struct {
	commits  map[string]map[string]string // content by path
	contents map[object.ID]string
	reads    atomic.Int64
}

// keptIn is the file of a folder, as another process opens it.
func keptIn(dir string) *kept.File { return kept.At(filepath.Join(dir, "kept")) }

func newMemory() *memory {
	return &memory{commits: map[string]map[string]string{}, contents: map[object.ID]string{}}
}

// linkPrefix begins the content of a symbolic link.
const linkPrefix = "link to "

// commit adds a commit with these files and returns its ID.
func (m *memory) commit(files map[string]string) string {
	hash := sha1.New() //nolint:gosec // as above
	for _, path := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(hash, "%s\x00%s\x00", path, files[path])
		m.contents[sha1.Sum([]byte(files[path]))] = files[path] //nolint:gosec // as above
	}
	id := fmt.Sprintf("%x", hash.Sum(nil))
	m.commits[id] = maps.Clone(files)
	return id
}

func (m *memory) Root(commit string) (object.ID, error) {
	if _, ok := m.commits[commit]; !ok {
		return object.ID{}, fault.New(fault.NotFound, "there is no commit %s", commit)
	}
	return object.ParseID(commit)
}

func (m *memory) List(_ context.Context, commit string) ([]object.Entry, error) {
	var all []object.Entry
	for path := range m.commits[commit] {
		file, err := m.File(commit, path)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	return all, nil
}

func (m *memory) Changed(before, after string) ([]string, error) {
	if m.commits[before] == nil {
		return nil, fault.New(fault.NotFound, "there is no commit %s", before)
	}
	var paths []string
	for path, content := range m.commits[before] {
		if now, ok := m.commits[after][path]; !ok || now != content {
			paths = append(paths, path)
		}
	}
	for path := range m.commits[after] {
		if _, ok := m.commits[before][path]; !ok {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

func (m *memory) File(commit, path string) (object.Entry, error) {
	content, ok := m.commits[commit][path]
	if !ok {
		return object.Entry{}, fault.New(fault.NotFound, "there is no file %s", path)
	}
	mode := object.Regular
	if strings.HasPrefix(content, linkPrefix) {
		mode, content = object.Symlink, strings.TrimPrefix(content, linkPrefix)
		m.contents[sha1.Sum([]byte(content))] = content //nolint:gosec // as above
	}
	return m.Entry(path, mode, sha1.Sum([]byte(content))), nil //nolint:gosec // as above
}

func (*memory) Entry(path string, mode object.Mode, id object.ID) object.Entry {
	return object.Entry{Path: path, Mode: mode, ID: id}
}

func (m *memory) Content(file object.Entry, _ int64) ([]byte, error) {
	m.reads.Add(1)
	return []byte(m.contents[file.ID]), nil
}

// The environments share files, one needs a file written, and charts refer to
// sources outside of all of them.
const sharedEnvironments = `version: 1
components:
  web: {image: r.example.com/acme/web, select: {semver: ">=1"}, only: {environments: [dev, prod]}}
  worker: {image: r.example.com/acme/worker, select: {semver: ">=1"}, only: {environments: [prod, other]}}
  shop: {chart: "oci://r.example.com/acme/charts/shop", select: {semver: ">=1"}, only: {environments: [dev, prod]}}
environments:
  dev: {paths: ["apps/{application}/dev", "apps/{application}/shared"]}
  prod:
    paths: ["apps/{application}/prod"]
    write: [{file: "apps/{application}/prod/version.yaml", path: version, component: web, value: "{tag}"}]
  other: {paths: ["apps/{application}/shared"]}
`

func loadConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	loaded, problems := config.Load(config.FileName, []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

// A symbolic link is refused if a followed name is in the file that it points to, also when
// only that file changed, and if it points to nothing.
func TestScan_symbolicLinks(t *testing.T) {
	t.Parallel()
	const (
		link, target = "apps/shop/dev/kustomization.yaml", "shared/kustomization.yaml"
		held         = "images:\n- name: r.example.com/acme/web\n  newTag: 1.0.0\n"
	)
	for name, test := range map[string]struct {
		link, target, want string
	}{
		"a followed name":     {"../../../" + target, held, "a symbolic link: change its target"},
		"over another link":   {"other.yaml", held, "a symbolic link: change its target"},
		"no followed name":    {"../../../" + target, "images: []\n", ""},
		"to nothing":          {"../gone.yaml", held, "a symbolic link with an unreadable target"},
		"out of the tree":     {"../../../../etc/passwd", held, "a symbolic link with an unreadable target"},
		"to an absolute path": {"/" + target, held, "a symbolic link with an unreadable target"},
		"to itself":           {"kustomization.yaml", held, "a symbolic link with an unreadable target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			files := map[string]string{
				link: linkPrefix + test.link, target: "resources: []\n", "apps/shop/dev/other.yaml": linkPrefix + "../../../" + target,
				"elsewhere/x.yaml": linkPrefix + "gone",
			}
			before := m.commit(files)
			files[target] = test.target
			after := m.commit(files)
			request := Request{Config: loadConfig(t, sharedEnvironments), Environments: []string{"dev"}}
			refusals := func(cache *Cache, commit string) (found string) {
				tree, err := cache.Commit(t.Context(), m, request, commit)
				if err != nil {
					t.Fatal(err)
				}
				for _, refusal := range tree.Targets[promotion.Target{Environment: "dev", Application: "shop"}].Refusals {
					if refusal.File == link {
						found += refusal.Reason
					}
				}
				return found
			}
			cache := NewCache(keptIn(t.TempDir()), nil)
			refusals(cache, before)
			if got := refusals(cache, after); got != test.want {
				t.Errorf("after a change: %q, want %q", got, test.want)
			}
			if got := refusals(NewCache(keptIn(t.TempDir()), nil), after); got != test.want {
				t.Errorf("alone: %q, want %q", got, test.want)
			}
		})
	}
}

func randomContent(r *rand.Rand) string {
	version, name := fmt.Sprintf("1.%d.0", r.IntN(3)), []string{"acme", "else"}[r.IntN(2)]
	switch r.IntN(9) {
	case 0:
		return "image: r.example.com/acme/web:" + version + "\n"
	case 1:
		return "image: r.example.com/acme/worker:" + version + " # x\n"
	case 2:
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: " + name + ", namespace: flux}\nspec: {type: oci, url: \"oci://r.example.com/acme/" + []string{"charts", "old"}[r.IntN(2)] + "\"}\n"
	case 3, 4:
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop, namespace: flux}\nspec: {chart: {spec: {chart: shop, version: " + version + ", sourceRef: {kind: HelmRepository, name: " + name + "}}}}\n"
	case 5:
		return "<<<<<<< a\nimage: r.example.com/acme/web:1.0.0\n=======\n>>>>>>> b\n"
	case 6:
		return "run: docker pull r.example.com/acme/web:" + version + "\nother: r.example.com/acme/web\n"
	case 7:
		return "images:\n- name: r.example.com/acme/web\n  newTag: " + version + "\n"
	default:
		return "version: " + version + "\n"
	}
}

// editRandomly changes, moves and removes some files.
func editRandomly(r *rand.Rand, files map[string]string) {
	for range 1 + r.IntN(5) {
		folder := []string{"apps/a/dev/", "apps/a/prod/", "apps/a/shared/", "apps/b/prod/", "apps/b/shared/", "sources/", ""}[r.IntN(7)]
		name := folder + []string{"a.yaml", "b.yaml", "version.yaml", "run.sh"}[r.IntN(4)]
		content, exists := files[name]
		switch {
		case exists && r.IntN(3) == 0:
			delete(files, name)
		case exists && r.IntN(3) == 0:
			delete(files, name)
			files[folder+"moved.yaml"] = content
		default:
			files[name] = randomContent(r)
		}
	}
}

// target is what a tree contains in a target, and what Rewrite makes of it.
type target struct {
	Current promotion.Current
	Made    Rewritten
}

func rewriteEverywhere(t *testing.T, tree *Tree) map[promotion.Target]target {
	t.Helper()
	moves := []promotion.Move{
		{Component: "shop", To: image.Version{Tag: "3.0.0"}}, {Component: "web", To: image.Version{Tag: "3.0.0"}},
	}
	all := map[promotion.Target]target{}
	for at, current := range tree.Targets {
		made, err := Rewrite(t.Context(), Edit{Tree: tree, Target: at, Moves: moves})
		if err != nil {
			t.Fatal(err)
		}
		all[at] = target{current, made[0]}
	}
	return all
}

func scanCommit(t *testing.T, c *Cache, m *memory, loaded *config.Config, commit string, environments []string) *Tree {
	t.Helper()
	tree, err := c.Commit(t.Context(), m, Request{Config: loaded, Environments: environments}, commit)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestCache_randomEdits compares scans that build on earlier commits, of this or of
// another process, with scans of all files.
func TestCache_randomEdits(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // no secret
	loaded, m, files := loadConfig(t, sharedEnvironments), newMemory(), map[string]string{config.FileName: sharedEnvironments}
	dir, kept := t.TempDir(), NewMemory(1<<20)
	cache := NewCache(keptIn(dir), kept)
	for step := range 100 {
		editRandomly(r, files)
		commit := m.commit(files)
		for _, environments := range [][]string{loaded.Order(), {"dev"}} {
			want := scanCommit(t, NewCache(keptIn(t.TempDir()), nil), m, loaded, commit, environments)
			got := scanCommit(t, cache, m, loaded, commit, environments)
			equal := []cmp.Option{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b image.Repository) bool { return a == b })}
			if diff := cmp.Diff(rewriteEverywhere(t, want), rewriteEverywhere(t, got), equal...); diff != "" {
				t.Fatalf("seed %d, step %d, %v: (-all files +differences)\n%s", seed, step, environments, diff)
			}
		}
		switch r.IntN(8) {
		case 0: // continue as another process
			if err := cache.Save(); err != nil {
				t.Fatal(err)
			}
			kept = NewMemory(1 << 20)
			cache = NewCache(keptIn(dir), kept)
		case 1, 2: // continue with the next reconciliation of this one
			cache.Keep()
			cache = NewCache(keptIn(dir), kept)
		}
	}
}

const twoEnvironments = `version: 1
components:
  web: {image: r.example.com/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["apps/{application}/dev"]}
  prod: {paths: ["apps/{application}/prod"], after: [dev]}
`

func twoApplications() map[string]string {
	files := map[string]string{config.FileName: twoEnvironments}
	for _, folder := range []string{"shop/dev", "shop/prod", "blog/dev", "blog/prod"} {
		files["apps/"+folder+"/web.yaml"] = "image: r.example.com/acme/web:1.0.0\n"
	}
	return files
}

func TestCache_readsOnlyChangedFiles(t *testing.T) {
	t.Parallel()
	loaded, m, files, dir := loadConfig(t, twoEnvironments), newMemory(), twoApplications(), t.TempDir()
	cache, first := NewCache(keptIn(dir), nil), m.commit(files)
	before := scanCommit(t, cache, m, loaded, first, loaded.Order())
	if m.reads.Load() != 4 {
		t.Errorf("the first scan read %d files, want 4", m.reads.Load())
	}
	scanCommit(t, cache, m, loaded, first, loaded.Order())
	if m.reads.Load() != 4 {
		t.Error("the same commit was scanned twice")
	}
	kept := NewMemory(1 << 20)
	opened := NewCache(keptIn(dir), kept)
	scanCommit(t, opened, m, loaded, first, loaded.Order())
	opened.Keep()
	if err := cache.Save(); err != nil {
		t.Fatal(err)
	}
	idle := NewCache(keptIn(dir), kept) // a reconciliation that reads no files
	idle.Keep()
	if err := idle.Save(); err != nil {
		t.Fatal(err)
	}
	files["apps/shop/dev/web.yaml"] = "image: r.example.com/acme/web:1.9.0\n"
	second := m.commit(files)
	for name, cache := range map[string]*Cache{"same reconciliation": cache, "next reconciliation": NewCache(keptIn(dir), kept), "next process": NewCache(keptIn(dir), nil)} {
		m.reads.Store(0)
		after := scanCommit(t, cache, m, loaded, second, loaded.Order())
		if m.reads.Load() != 1 {
			t.Errorf("%s: the second scan read %d files, want 1", name, m.reads.Load())
		}
		var changed []promotion.Target
		for target, current := range after.Targets {
			if !slices.Equal(before.Targets[target].References, current.References) {
				changed = append(changed, target)
			}
		}
		if diff := cmp.Diff([]promotion.Target{{Environment: "dev", Application: "shop"}}, changed); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCache_limitChanges(t *testing.T) {
	t.Parallel()
	loaded, m, dir := loadConfig(t, twoEnvironments), newMemory(), t.TempDir()
	commit := m.commit(twoApplications())
	for limit, refused := range map[int64]bool{10: true, 0: false} {
		cache := NewCache(keptIn(dir), nil)
		tree, err := cache.Commit(t.Context(), m, Request{Config: loaded, Environments: loaded.Order(), MaxFileSize: limit}, commit)
		if err != nil {
			t.Fatal(err)
		}
		current := tree.Targets[promotion.Target{Environment: "dev", Application: "shop"}]
		if (len(current.Refusals) > 0) != refused {
			t.Errorf("with a limit of %d bytes: %+v", limit, current)
		}
		if err := cache.Save(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCache_brokenFile(t *testing.T) {
	t.Parallel()
	loaded, m, files := loadConfig(t, twoEnvironments), newMemory(), twoApplications()
	commit := m.commit(files)
	request := Request{Config: loaded, Environments: loaded.Order()}
	scanner := newCommitScanner(m, request)
	found, err := scanner.scan(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := found.encode(&saved); err != nil {
		t.Fatal(err)
	}
	for cut := range saved.Len() {
		if tree, err := scanner.decode(t.Context(), bufioReader(saved.Bytes()[:cut])); err == nil {
			t.Fatalf("%d of %d bytes give %v", cut, saved.Len(), tree)
		}
	}
}

// fullDisk accepts some bytes, and counts the writes after that.
type fullDisk struct{ left, refused int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		d.refused++
		return 0, errors.New("no space left on device")
	}
	d.left -= len(p)
	return len(p), nil
}

func TestCache_stopsAtTheFirstErrorOfAWrite(t *testing.T) {
	t.Parallel()
	loaded, m := loadConfig(t, twoEnvironments), newMemory()
	scanner := newCommitScanner(m, Request{Config: loaded, Environments: loaded.Order()})
	found, err := scanner.scan(t.Context(), m.commit(twoApplications()))
	if err != nil {
		t.Fatal(err)
	}
	disk := &fullDisk{}
	err = found.encode(disk)
	if err == nil || err.Error() != "no space left on device" || disk.refused != 1 {
		t.Errorf("%v, %d writes", err, disk.refused)
	}
}

func TestMemory_forgetsWhatWasNotUsedForTheLongestTime(t *testing.T) {
	t.Parallel()
	loaded, m := loadConfig(t, twoEnvironments), newMemory()
	commit := m.commit(twoApplications())
	open := func(kept *Memory, dir string) *Cache {
		cache := NewCache(keptIn(dir), kept)
		scanCommit(t, cache, m, loaded, commit, loaded.Order())
		cache.Keep()
		return cache
	}
	var one int64
	for _, scanner := range open(nil, t.TempDir()).scanners {
		one = scanner.recent[0].size()
	}
	kept, a, b, c := NewMemory(2*one), t.TempDir(), t.TempDir(), t.TempDir()
	open(kept, a)
	open(kept, b)
	open(kept, a)
	open(kept, c)
	for dir, remembered := range map[string]bool{a: true, b: false, c: true} {
		if (kept.load(keptIn(dir).Path()) != nil) != remembered {
			t.Errorf("%s is remembered: %v", dir, !remembered)
		}
	}
	if kept.scans.Size() != 2*one {
		t.Errorf("%d bytes, want %d", kept.scans.Size(), 2*one)
	}
	small := NewMemory(one - 1)
	if open(small, a); small.load(keptIn(a).Path()) != nil || small.scans.Size() != 0 {
		t.Error("it keeps more than fits")
	}
}

// A scan that is nearly the one in the directory is not written again, and one that differs much is.
func TestCache_savesWhatDiffersMuch(t *testing.T) {
	t.Parallel()
	loaded, m, files, dir := loadConfig(t, twoEnvironments), newMemory(), twoApplications(), t.TempDir()
	written := func(commit string) bool {
		cache := NewCache(keptIn(dir), nil)
		scanCommit(t, cache, m, loaded, commit, loaded.Order())
		if err := cache.Save(); err != nil {
			t.Fatal(err)
		}
		for key, scanner := range cache.scanners {
			saved, err := scanner.load(t.Context(), keptIn(dir), key)
			if err != nil {
				t.Fatal(err)
			}
			return saved.commit == commit
		}
		return false
	}
	if !written(m.commit(files)) {
		t.Error("the first scan is not written")
	}
	files["apps/shop/dev/web.yaml"] = "image: r.example.com/acme/web:1.9.0\n"
	if written(m.commit(files)) {
		t.Error("one changed file: everything is written")
	}
	for n := range maxUnsaved {
		files[fmt.Sprintf("apps/shop/dev/%d.yaml", n)] = "image: r.example.com/acme/web:1.9.0\n"
	}
	if !written(m.commit(files)) {
		t.Error("many changed files: nothing is written")
	}
}
