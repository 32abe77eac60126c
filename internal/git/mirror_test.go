package git_test

import (
	"crypto/sha1" //nolint:gosec // what Git uses
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
)

func TestOpen_damaged(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", many(30))
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no state":           func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "state.json")) },
		"a state cut short":  func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, "state.json"), 20) },
		"no objects":         func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "objects")) },
		"a pack cut short":   func(t *testing.T, dir string) { truncate(t, one(t, dir, "*.pack"), 200) },
		"an empty pack":      func(t *testing.T, dir string) { truncate(t, one(t, dir, "*.pack"), 0) },
		"no index":           func(t *testing.T, dir string) { remove(t, one(t, dir, "*.idx")) },
		"an index cut short": func(t *testing.T, dir string) { truncate(t, one(t, dir, "*.idx"), 100) },
		"what a crash left":  func(t *testing.T, dir string) { write(t, filepath.Join(dir, "incoming-1"), "PACK") },
		"a state half made":  func(t *testing.T, dir string) { write(t, filepath.Join(dir, "state.json.1"), "{") },
		"a mirror of others": func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "state.json"), "file://", "file:///x") },
		"a mirror of the past": func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "state.json"), `"version": 1`, `"version": 0`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "mirror")
			m := openedIn(t, dir, o.remoteFile())
			fetched(t, m, "main")
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			mkdir(t, filepath.Join(dir, "cache"))
			damage(t, dir)
			m = openedIn(t, dir, o.remoteFile())
			fetched(t, m, "main")
			same(t, m, o, head)
			if _, err := os.Stat(filepath.Join(dir, "cache")); err != nil {
				t.Error("other files in the directory were removed")
			}
			nothingLeft(t, dir)
		})
	}
}

func TestOpen_damagedInside(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", files{"a.yaml": strings.Repeat("0123456789abcdef", 200)})
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	name := one(t, dir, "*.pack")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 14; i < len(content)-20; i++ {
		content[i] ^= 0x55
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, name, string(content))
	m = openedIn(t, dir, o.remoteFile())
	if _, err := m.Objects.Tree(head); err == nil {
		t.Fatal("a broken object was read")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	same(t, m, o, head)
}

// The files of a mirror can change in a way that nothing but the ID of an object shows. What they hold then is an error of the
// mirror, and not a statement about the repository: neither is a file missing, nor has it other content.
func TestMirror_verifiesWhatItReads(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	head := o.commit("main", files{"a.yaml": strings.Repeat("a: 1\n", 20), "b.yaml": strings.Repeat("b: 2\n", 20), "c/d.yaml": "d: 3\n"})
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	pack, index := one(t, dir, "*.pack"), one(t, dir, "*.idx")
	content, offsets := read(t, pack), read(t, index)
	damages := map[string]func(){}
	for turn := 1; turn < 5; turn++ { // each object is found in the place of another one
		damages[fmt.Sprint("index turned by ", turn)] = func() { write(t, index, turned(offsets, turn)) }
	}
	for at := 12; at < len(content)-20; at += 3 {
		changed := []byte(content)
		changed[at] ^= 0x11
		damages[fmt.Sprint("byte ", at)] = func() { write(t, pack, string(changed)) }
	}
	for _, name := range slices.Sorted(maps.Keys(damages)) {
		for _, file := range []string{pack, index} {
			if err := os.Chmod(file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(t, pack, content)
		write(t, index, offsets)
		damages[name]()
		m = openedIn(t, dir, o.remoteFile())
		err := readAll(m, head)
		if err != nil && (!errors.Is(err, object.ErrDamaged) || fault.KindOf(err) != fault.Temporary) {
			t.Errorf("%s: %v", name, err)
		}
		if (err != nil) != (m.Damage() != nil) {
			t.Errorf("%s: damage %v, read %v", name, m.Damage(), err)
		}
		if err == nil {
			same(t, m, o, head)
		}
		if closed := m.Close(); closed != nil {
			t.Fatal(closed)
		}
		if m = openedIn(t, dir, o.remoteFile()); err != nil {
			fetched(t, m, "main")
			pack, index = one(t, dir, "*.pack"), one(t, dir, "*.idx")
		}
		same(t, m, o, head)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll reads the commit, and all of its files.
func readAll(m *git.Mirror, commit object.ID) error {
	tree, err := m.Objects.Tree(commit)
	if err != nil {
		return err
	}
	for entry, err := range tree.Files() {
		if err != nil {
			return err
		}
		if _, err := entry.Read(1000); err != nil {
			return err
		}
	}
	return nil
}

// turned returns an index of a pack in which each object has the offset of another one.
// https://git-scm.com/docs/gitformat-pack
func turned(index string, by int) string {
	const header, name, check, offset = 8 + 256*4, 20, 4, 4
	content := []byte(index)
	n := int(binary.BigEndian.Uint32(content[header-4:]))
	begin := header + n*(name+check)
	first := slices.Clone(content[begin : begin+n*offset])
	for i := range n {
		copy(content[begin+i*offset:], first[(i+by)%n*offset:][:offset])
	}
	sum := sha1.Sum(content[:len(content)-name]) //nolint:gosec // what Git uses
	copy(content[len(content)-name:], sum[:])
	return string(content)
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "objects/pack", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func truncate(t *testing.T, name string, size int64) {
	t.Helper()
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, name, old, by string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(content), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	write(t, name, strings.Replace(string(content), old, by, 1))
}

func TestOpen_oneAtATime(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	dir := filepath.Join(t.TempDir(), "mirror")
	first := openedIn(t, dir, o.remoteFile())
	ctx, cancel := contextWith(t, 100*time.Millisecond)
	defer cancel()
	_, err := git.Open(ctx, dir, git.Options{Remote: o.remoteFile()})
	if fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openedIn(t, dir, o.remoteFile())
}

// Remove waits until the mirror is not used; Open creates it again.
func TestRemove(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	dir := filepath.Join(t.TempDir(), "mirror")
	if err := git.Remove(t.Context(), dir); err != nil {
		t.Errorf("where there is none: %v", err)
	}
	used := openedIn(t, dir, o.remoteFile())
	ctx, cancel := contextWith(t, 100*time.Millisecond)
	defer cancel()
	if err := git.Remove(ctx, dir); fault.KindOf(err) != fault.Temporary {
		t.Errorf("in use: %v", err)
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	if err := git.Remove(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is left: %v", err)
	}
	openedIn(t, dir, o.remoteFile())
}

// The packs of many fetches are joined, and no object is lost.
func TestFetch_joinsSmallPacks(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(30))
	dir := filepath.Join(t.TempDir(), "mirror")
	m := openedIn(t, dir, o.remoteFile())
	fetched(t, m, "main")
	fresh := written(t, m, main, files{"fresh.yaml": "fresh\n"})
	for i := range 40 {
		main = o.commit("main", files{"a.yaml": fmt.Sprintf("a: %d\n", i)})
		fetched(t, m, "main")
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*"))
	if err != nil || len(packs) > 2*33 {
		t.Errorf("%d files: %v", len(packs), err)
	}
	same(t, m, o, main)
	if got := history(t, m, main); len(got) != 41 {
		t.Errorf("%d commits", len(got))
	}
	if err := m.Push(t.Context(), git.Update{Branch: "fresh", New: fresh}); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = openedIn(t, dir, o.remoteFile())
	if id, _ := m.Have("main"); id != main {
		t.Errorf("have %s", id)
	}
	same(t, m, o, main)
	same(t, m, o, fresh)
}
