package checkout_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/fault"
)

const (
	before = "image: quay.io/acme/web:1\n"
	after  = "image: quay.io/acme/web:2\n"
)

// twoApplications is a folder with files of two applications.
func twoApplications(t *testing.T) *world {
	t.Helper()
	return newWorld(t, map[string]string{
		".promoter.yaml": `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["{application}/**"]}
`,
		"one/a.yaml":   before,
		"one/b/b.yaml": before,
		"two/a.yaml":   before,
	})
}

// planned plans version 2 everywhere.
func planned(t *testing.T, w *world) (*checkout.Checkout, *checkout.Preview) {
	t.Helper()
	options := w.options()
	options.Explicit = w.given("quay.io/acme/web:2")
	opened, preview := w.plan(options)
	if applications, _, _ := preview.Count(); applications != 2 {
		t.Fatalf("%d applications change", applications)
	}
	return opened, preview
}

// tree reads all files of the folder but the config.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == ".promoter.yaml" {
			return err
		}
		content, err := os.ReadFile(name)
		relative, _ := filepath.Rel(dir, name)
		found[relative] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestApply_writesAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := twoApplications(t)
	w.write("one/.promoter-0.tmp", "left by a run that was killed")
	modes := map[string]fs.FileMode{"one/a.yaml": 0o640, "one/b/b.yaml": 0o755, "two/a.yaml": 0o604}
	for name, mode := range modes {
		if err := os.Chmod(filepath.Join(w.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	opened, preview := planned(t, w)
	applied, err := opened.Apply(t.Context(), preview)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one/a.yaml", "one/b/b.yaml", "two/a.yaml"}, applied.Files); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{
		"one/a.yaml": after, "one/b/b.yaml": after, "two/a.yaml": after,
		"one/.promoter-0.tmp": "left by a run that was killed",
	}
	if diff := cmp.Diff(want, tree(t, w.dir)); diff != "" {
		t.Error(diff)
	}
	for name, mode := range modes {
		info, err := os.Stat(filepath.Join(w.dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

// An application of which one file cannot be written stays as it was; the other
// is written.
func TestApply_conflicts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		meanwhile func(w *world, name string) error
		want      string
	}{
		"changed": {func(_ *world, name string) error {
			return os.WriteFile(name, []byte("image: quay.io/acme/web:9\n"), 0o644)
		}, "one/b/b.yaml was changed by another process: run it again"},
		"grown": {func(_ *world, name string) error {
			return os.WriteFile(name, []byte(before+"# more\n"), 0o644)
		}, "one/b/b.yaml was changed by another process: run it again"},
		"removed": {func(_ *world, name string) error {
			return os.Remove(name)
		}, "no such file or directory"},
		"now a link to the same content": {func(_ *world, name string) error {
			return errors.Join(os.Remove(name), os.Symlink("../../two/a.yaml", name))
		}, "one/b/b.yaml is no longer a regular file: run it again"},
		"now a link that leads out": {func(_ *world, name string) error {
			return errors.Join(os.Remove(name), os.Symlink("/etc/passwd", name))
		}, "one/b/b.yaml is no longer a regular file: run it again"},
		"now a folder": {func(_ *world, name string) error {
			return errors.Join(os.Remove(name), os.Mkdir(name, 0o755))
		}, "one/b/b.yaml is no longer a regular file: run it again"},
		"its folder leads out now": {func(w *world, name string) error {
			elsewhere := w.t.TempDir()
			err := os.WriteFile(filepath.Join(elsewhere, "b.yaml"), []byte(before), 0o644)
			return errors.Join(err, os.RemoveAll(filepath.Dir(name)), os.Symlink(elsewhere, filepath.Dir(name)))
		}, "path escapes from parent"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := twoApplications(t)
			opened, preview := planned(t, w)
			if err := test.meanwhile(w, filepath.Join(w.dir, "one/b/b.yaml")); err != nil {
				t.Fatal(err)
			}
			applied, err := opened.Apply(t.Context(), preview)
			if err == nil || !strings.HasPrefix(err.Error(), "write one in dev: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error: %v", err)
			}
			if diff := cmp.Diff([]string{"two/a.yaml"}, applied.Files); diff != "" {
				t.Error(diff)
			}
			if got := w.read("one/a.yaml"); got != before {
				t.Errorf("half of the application was written: %q", got)
			}
			for file := range tree(t, w.dir) {
				if strings.Contains(file, ".promoter-") {
					t.Errorf("%s was left behind", file)
				}
			}
		})
	}
}

func TestApply_changedIsAConflict(t *testing.T) {
	t.Parallel()
	w := twoApplications(t)
	opened, preview := planned(t, w)
	w.write("two/a.yaml", before+"x: 1\n")
	if _, err := opened.Apply(t.Context(), preview); fault.KindOf(err) != fault.Conflict {
		t.Errorf("error: %v", err)
	}
}

// The second of two folders cannot be written: the first file stays as it was.
func TestApply_readOnlyFolder(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root writes into every folder")
	}
	w := twoApplications(t)
	closed := filepath.Join(w.dir, "one/b")
	if err := os.Chmod(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	opened, preview := planned(t, w)
	_, err := opened.Apply(t.Context(), preview)
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error: %v", err)
	}
	want := map[string]string{"one/a.yaml": before, "one/b/b.yaml": before, "two/a.yaml": after}
	if diff := cmp.Diff(want, tree(t, w.dir)); diff != "" {
		t.Error(diff)
	}
}

// A folder in which no temporary file finds a name is like one without the right
// to write, also for root.
func TestApply_noPlaceForTheNewContent(t *testing.T) {
	t.Parallel()
	w := twoApplications(t)
	opened, preview := planned(t, w)
	for i := range 100 {
		w.write(fmt.Sprintf("one/b/.promoter-%d.tmp", i), "")
	}
	applied, err := opened.Apply(t.Context(), preview)
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "no free name for a temporary file beside one/b/b.yaml") {
		t.Errorf("error: %v", err)
	}
	if diff := cmp.Diff([]string{"two/a.yaml"}, applied.Files); diff != "" {
		t.Error(diff)
	}
	if w.read("one/a.yaml") != before || w.read("one/b/b.yaml") != before {
		t.Error("half of the application was written")
	}
	if _, err := os.Stat(filepath.Join(w.dir, "one/.promoter-0.tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file was left behind: %v", err)
	}
}

func TestApply_cancelledBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	w := twoApplications(t)
	opened, preview := planned(t, w)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	applied, err := opened.Apply(ctx, preview)
	if !errors.Is(err, context.Canceled) || len(applied.Files) > 0 {
		t.Errorf("%v, %v", applied, err)
	}
	want := map[string]string{"one/a.yaml": before, "one/b/b.yaml": before, "two/a.yaml": before}
	if diff := cmp.Diff(want, tree(t, w.dir)); diff != "" {
		t.Error(diff)
	}
}

func TestApply_theFolderIsGone(t *testing.T) {
	t.Parallel()
	w := twoApplications(t)
	opened, preview := planned(t, w)
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	_, err := opened.Apply(t.Context(), preview)
	if err == nil || !strings.HasPrefix(err.Error(), "open the folder: ") {
		t.Errorf("error: %v", err)
	}
}
