package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scan"
	"promoter/internal/updater"
)

// plant writes a tree of files, each with its own path in it.
func plant(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// walked lists a tree: the mode and content of each file, sorted.
func walked(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	for file, err := range folderFiles(t.Context(), dir) {
		if err != nil {
			t.Fatal(err)
		}
		text := "unreadable"
		if file.Read != nil {
			content, err := file.Read()
			if err != nil {
				t.Fatal(err)
			}
			text = string(content)
		}
		found = append(found, strings.TrimSpace(fmt.Sprintf("%s: %s %s", file.Path, text, file.Mode)))
	}
	slices.Sort(found)
	return found
}

func TestFolder_files(t *testing.T) {
	t.Parallel()
	dir := plant(t, "a.yaml", "b/c.yaml", "b/d/e.yaml", ".hidden/f", ".git/config", "b/.git/g", "x/.github/h")
	if err := os.WriteFile(filepath.Join(dir, "x", ".git"), []byte("gitdir: y"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{
		".hidden/f: .hidden/f", "a.yaml: a.yaml", "b/c.yaml: b/c.yaml", "b/d/e.yaml: b/d/e.yaml",
		"x/.git: gitdir: y", "x/.github/h: x/.github/h",
	}
	for _, form := range []string{dir, dir + "/", dir + "/.", dir + "/b/.."} {
		if diff := cmp.Diff(want, walked(t, form)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
}

// Links are yielded and never followed into folders. Only a link to a regular file
// inside the folder has content.
func TestFolder_links(t *testing.T) {
	t.Parallel()
	outside := plant(t, "secret")
	dir := plant(t, "a.yaml", "sub/b.yaml")
	for name, target := range map[string]string{
		"inside":      "sub/b.yaml",
		"sub/up":      "../a.yaml",
		"outside":     filepath.Join(outside, "secret"),
		"sub/climb":   "../../../../../../../../etc/passwd",
		"nowhere":     "gone",
		"itself":      "itself",
		"folder":      "sub",
		"device":      "/dev/zero",
		"through-sub": "folder/b.yaml",
	} {
		link(t, target, filepath.Join(dir, name))
	}
	want := []string{
		"a.yaml: a.yaml",
		"device: unreadable symbolic link",
		"folder: unreadable symbolic link",
		"inside: sub/b.yaml symbolic link",
		"itself: unreadable symbolic link",
		"nowhere: unreadable symbolic link",
		"outside: unreadable symbolic link",
		"sub/b.yaml: sub/b.yaml",
		"sub/climb: unreadable symbolic link",
		"sub/up: a.yaml symbolic link",
		"through-sub: sub/b.yaml symbolic link",
	}
	if diff := cmp.Diff(want, walked(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Reading a pipe would block forever.
func TestFolder_pipesAreNoFiles(t *testing.T) {
	t.Parallel()
	dir := plant(t, "a.yaml")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o644); err != nil {
		t.Skipf("no pipes in this file system: %v", err)
	}
	link(t, "pipe.yaml", filepath.Join(dir, "to-pipe.yaml"))
	want := []string{"a.yaml: a.yaml", "to-pipe.yaml: unreadable symbolic link"}
	if diff := cmp.Diff(want, walked(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFolder_cannotBeListed(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"a folder that is not there": filepath.Join(t.TempDir(), "gone"),
		"a file":                     filepath.Join(plant(t, "a.yaml"), "a.yaml"),
	} {
		var last error
		for file, err := range folderFiles(t.Context(), dir) {
			if err == nil {
				t.Errorf("%s: found %s", name, file.Path)
			}
			last = err
		}
		if last == nil || !strings.HasPrefix(last.Error(), "list the folder: ") {
			t.Errorf("%s: %v", name, last)
		}
	}
}

func TestFolder_unreadableFolder(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads every folder")
	}
	dir := plant(t, "a.yaml", "closed/b.yaml")
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	var failed error
	for _, err := range folderFiles(t.Context(), dir) {
		if err != nil {
			failed = err
		}
	}
	if failed == nil || !strings.HasPrefix(failed.Error(), "list the folder: ") {
		t.Errorf("error: %v", failed)
	}
}

// A folder that was removed after its parent was listed is empty.
func TestFolder_vanishing(t *testing.T) {
	t.Parallel()
	dir := plant(t, "a.yaml")
	var found batch
	(&walk{root: dir, reader: newReader()}).list("gone", &found)
	if found.err != nil || len(found.files) > 0 {
		t.Errorf("%+v", found)
	}
}

// large is more folders and files than wait in any buffer.
func large(t *testing.T) string {
	t.Helper()
	var names []string
	for folder := range 60 {
		for file := range 40 {
			names = append(names, fmt.Sprintf("d%d/e%d/f%d", folder, folder%7, file))
		}
	}
	return plant(t, names...)
}

// In a synctest bubble, a goroutine that outlives the walk is a deadlock.
func TestFolder_stopsWithItsCaller(t *testing.T) {
	t.Parallel()
	dir := large(t)
	tests := map[string]func(ctx context.Context, cancel func()) int{
		"read to the end": func(ctx context.Context, _ func()) (seen int) {
			for _, err := range folderFiles(ctx, dir) {
				if err != nil {
					t.Error(err)
				}
				seen++
			}
			return seen
		},
		"left after one file": func(ctx context.Context, _ func()) (seen int) {
			for _, err := range folderFiles(ctx, dir) {
				if err != nil {
					t.Error(err)
				}
				seen++
				break
			}
			return seen
		},
		"canceled after one file": func(ctx context.Context, cancel func()) (seen int) {
			for _, err := range folderFiles(ctx, dir) {
				if err != nil {
					t.Error(err)
				}
				seen++
				cancel()
			}
			return seen
		},
		"canceled before": func(ctx context.Context, cancel func()) (seen int) {
			cancel()
			for _, err := range folderFiles(ctx, dir) {
				if err != nil {
					t.Error(err)
				}
				seen++
			}
			return seen
		},
	}
	for name, read := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				seen := read(ctx, cancel)
				switch all := 60 * 40; {
				case name == "read to the end" && seen != all:
					t.Errorf("saw %d of %d files", seen, all)
				case name == "left after one file" && seen != 1:
					t.Errorf("saw %d files", seen)
				case strings.HasPrefix(name, "canceled") && seen > (maxBatches+runtime.GOMAXPROCS(0)+3)*batchSize:
					t.Errorf("saw %d files", seen)
				}
			})
		})
	}
}

// A canceled walk must not look like a small tree.
func TestFolder_canceledScanFails(t *testing.T) {
	t.Parallel()
	dir := large(t)
	ctx, cancel := context.WithCancel(t.Context())
	files := folderFiles(ctx, dir)
	_, _, err := scan.All(ctx, func(yield func(updater.File, error) bool) {
		for file, err := range files {
			cancel()
			if !yield(file, err) {
				return
			}
		}
	}, 0)
	if err == nil {
		t.Error("a scan that was cut short succeeds")
	}
}

func TestReader_limits(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	content := strings.Repeat("0123456789abcdef", 20_000) // more than one buffer
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newReader()
	for _, limit := range []int64{0, 1, 65_535, 65_536, 65_537, 319_999, 320_000, 320_001} {
		got, err := b.read(name, limit)
		if want := content[:min(int64(len(content)), limit+1)]; err != nil || string(got) != want {
			t.Errorf("limit %d: %d bytes, %v", limit, len(got), err)
		}
	}
	if _, err := b.read(name+"-gone", 10); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := b.read(filepath.Dir(name), 10); err == nil || !strings.HasPrefix(err.Error(), "read ") {
		t.Errorf("a folder: %v", err)
	}
}
