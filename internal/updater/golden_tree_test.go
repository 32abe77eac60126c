package updater_test

import (
	"bytes"
	"io/fs"
	"iter"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/updater"
)

const byteOrderMark = "\ufeff"

// entry is one file of a tree in memory.
type entry struct {
	data []byte
	link string // target of a symbolic link; empty for a regular file
}

// tree maps slash-separated paths to files.
type tree map[string]entry

// readTree reads a folder.
func readTree(t *testing.T, dir string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		read := entry{}
		if d.Type()&fs.ModeSymlink != 0 {
			read.link, err = os.Readlink(path)
		} else {
			read.data, err = os.ReadFile(path)
		}
		files[filepath.ToSlash(relative)] = read
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// write writes the tree to dir.
func (files tree) write(t *testing.T, dir string) {
	t.Helper()
	for path, file := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if file.link != "" {
			continue // no renderer reads through a link
		}
		if err := os.WriteFile(full, file.data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// files yields the tree in path order, like a directory walk.
func (files tree) files() iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for _, path := range slices.Sorted(maps.Keys(files)) {
			if !yield(files.file(path), nil) {
				return
			}
		}
	}
}

func (files tree) file(path string) updater.File {
	held, mode := files[path], updater.Regular
	if held.link != "" {
		held, mode = files[pathOf(path, held.link)], updater.Symlink
	}
	file := updater.File{Path: path, Mode: mode, Size: int64(len(held.data))}
	file.Read = func() ([]byte, error) { return bytes.Clone(held.data), nil }
	return file
}

// pathOf returns the target of a relative link.
func pathOf(path, link string) string { return pathpkg.Join(pathpkg.Dir(path), link) }

func (files tree) clone() tree { return maps.Clone(files) }

// texts returns the contents for comparison.
func (files tree) texts() map[string]string {
	texts := make(map[string]string, len(files))
	for path, file := range files {
		texts[path] = file.link + string(file.data)
	}
	return texts
}

// mapped returns the tree with every file's content changed.
func (files tree) mapped(change func(string) string) tree {
	changed := make(tree, len(files))
	for path, file := range files {
		if file.link == "" {
			file.data = []byte(change(string(file.data)))
		}
		changed[path] = file
	}
	return changed
}

// testVariants repeats a case with other line endings, with a byte order mark
// and without the final newline. The same scalars must change at the same
// positions.
func testVariants(t *testing.T, wanted goldenCase, before, after tree, result goldenResult) {
	for name, change := range map[string]func(string) string{
		"carriage returns": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"byte order mark":  func(s string) string { return byteOrderMark + s },
		"no final newline": func(s string) string { return strings.TrimSuffix(s, "\n") },
		"all of it together": func(s string) string {
			return byteOrderMark + strings.TrimSuffix(strings.ReplaceAll(s, "\n", "\r\n"), "\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, varied := rewriteTree(t, wanted, before.mapped(change))
			if diff := cmp.Diff(after.mapped(change).texts(), got.texts()); diff != "" {
				t.Errorf("tree differs from after (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(places(result), places(varied)); diff != "" {
				t.Errorf("places differ (-plain +varied):\n%s", diff)
			}
		})
	}
}

// places returns the positions that a result changed or refused.
func places(result goldenResult) []string {
	var all []string
	for _, change := range result.Changes {
		all = append(all, change.Position.String()+" "+string(change.Shape))
	}
	for _, refusal := range result.Refusals {
		all = append(all, refusal.String())
	}
	return all
}
