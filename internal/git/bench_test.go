package git_test

import (
	"fmt"
	"testing"

	"promoter/internal/benchtree"
	"promoter/internal/git"
)

// BenchmarkMirror measures a mirror of 20,000 files: the first fetch, the fetch of
// one commit that changes five files, listing alone, and a push of five files.
func BenchmarkMirror(b *testing.B) {
	o := newOrigin(b)
	all := files{}
	for file := range benchtree.Full().Files() {
		all[file.Path] = string(file.Content)
	}
	main := o.commit("main", all)
	o.repack()
	for _, way := range []string{"file", "http"} {
		remote := ways(o)[way]
		b.Run("first/"+way, func(b *testing.B) {
			for b.Loop() {
				m := opened(b, remote)
				fetched(b, m, "main")
				if err := m.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("next/"+way, func(b *testing.B) { benchmarkNext(b, o, opened(b, remote)) })
		b.Run("list/"+way, func(b *testing.B) {
			m := opened(b, remote)
			for b.Loop() {
				if _, err := m.List(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("push/"+way, func(b *testing.B) {
			m := opened(b, remote)
			old := fetched(b, m, "main")["main"]
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				next := written(b, m, old, five(all, fmt.Sprintf("%s push %d\n", way, i)))
				b.StartTimer()
				if err := m.Push(b.Context(), git.Update{Branch: "main", Old: old, New: next}); err != nil {
					b.Fatal(err)
				}
				old = next
			}
		})
		o.move("main", main)
	}
}

// five picks five files, of five environments, and appends to them.
func five(all files, add string) files {
	changed := files{}
	for name, content := range all {
		if len(changed) == 5 {
			return changed
		}
		changed[name] = content + "# " + add
	}
	return changed
}

func benchmarkNext(b *testing.B, o *origin, m *git.Mirror) {
	fetched(b, m, "main")
	names := files{"apps/bench/a.yaml": "", "apps/bench/b.yaml": "", "c.yaml": ""}
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		for name := range names {
			names[name] = fmt.Sprintf("%s: %d\n", o.dir, i+o.hours)
		}
		o.commit("main", names)
		b.StartTimer()
		fetched(b, m, "main")
	}
}
