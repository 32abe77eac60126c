package object_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/benchtree"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// BenchmarkObjects has one event of five environments in a tree of 20,000 files:
// what a reconciliation does between fetch and push, without finding and rewriting.
func BenchmarkObjects(b *testing.B) {
	packed := newRepo(b)
	parent := packed.importFiles(b, "main", benchFiles(benchtree.Full()))
	gittest.Exec(b, packed.dir, "repack", "-qadb")
	loose := newRepo(b)
	unpack(b, packed, loose)
	b.Run("packed", func(b *testing.B) {
		benchmarkObjects(b, parent, func() *object.Store { return openRepo(packed.dir).Store })
	})
	b.Run("loose", func(b *testing.B) {
		benchmarkObjects(b, parent, func() *object.Store { return openRepo(loose.dir).Store })
	})
}

// benchmarkObjects opens the repository for each cold run, as after a restart.
func benchmarkObjects(b *testing.B, parent object.ID, open func() *object.Store) {
	warm := open()
	event := newEvent(b, warm, parent)
	for _, run := range []struct {
		name string
		do   func(*testing.B, *object.Store)
	}{{"walk", event.walk}, {"entry", event.entry}, {"write", event.write}} {
		b.Run(run.name+"/cold", func(b *testing.B) {
			for b.Loop() {
				run.do(b, open())
			}
		})
		b.Run(run.name+"/warm", func(b *testing.B) {
			for b.Loop() {
				run.do(b, warm)
			}
		})
	}
	// What was just written is in memory.
	b.Run("changed", func(b *testing.B) {
		for b.Loop() {
			if paths, err := warm.Changed(parent, event.child); len(paths) != 5 || err != nil {
				b.Fatal(paths, err)
			}
		}
	})
	b.Run("between", func(b *testing.B) {
		for b.Loop() {
			if found, err := warm.NewObjects(b.Context(), event.child, parent); len(found) != 15 || err != nil {
				b.Fatal(found, err)
			}
		}
	})
}

// event is one new image in five environments.
type event struct {
	draft object.Draft
	child object.ID
}

func newEvent(b *testing.B, o *object.Store, parent object.ID) *event {
	b.Helper()
	e := &event{draft: draft(parent, nil)}
	for env := range 5 {
		name := fmt.Sprintf("apps/service-0042/overlays/env-%d/kustomization.yaml", env)
		e.draft.Write[name] = fmt.Appendf(nil, "environment %d\n", env)
	}
	var err error
	if e.child, err = o.Write(e.draft); err != nil {
		b.Fatal(err)
	}
	return e
}

func (e *event) walk(b *testing.B, o *object.Store) {
	files := 0
	for _, err := range treeAt(b, o, e.draft.Parent).Files() {
		if files++; err != nil {
			b.Fatal(err)
		}
	}
	if files != benchtree.Full().Len() {
		b.Fatalf("%d files", files)
	}
}

func (e *event) entry(b *testing.B, o *object.Store) {
	found, err := treeAt(b, o, e.draft.Parent).Entry("apps/service-0042/overlays/env-1/patch.yaml")
	if err == nil {
		_, err = found.Read(1 << 20)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (e *event) write(b *testing.B, o *object.Store) {
	for name := range e.draft.Write { // never the same objects again
		e.draft.Write[name] = append(e.draft.Write[name], 'x')
	}
	if _, err := o.Write(e.draft); err != nil {
		b.Fatal(err)
	}
}

func treeAt(b *testing.B, o *object.Store, commit object.ID) *object.Tree {
	b.Helper()
	tree, err := o.Tree(commit)
	if err != nil {
		b.Fatal(err)
	}
	return tree
}

// unpack makes every object of a repository a file of its own in another.
func unpack(t testing.TB, from, to *repo) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(from.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(strings.Join(packs, " "), err)
	}
	pack, err := os.Open(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "git", "unpack-objects", "-q")
	command.Dir, command.Env, command.Stdin = to.dir, gittest.Environ(), pack
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git unpack-objects: %v\n%s", err, output)
	}
	if err := pack.Close(); err != nil {
		t.Fatal(err)
	}
}
