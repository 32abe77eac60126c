package atomicfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/atomicfile"
)

func replace(t *testing.T, name, content string) {
	t.Helper()
	if err := atomicfile.Replace(name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// holds compares a folder with the files that it is to have, by name.
func holds(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, one := range all {
		content, err := os.ReadFile(filepath.Join(folder, one.Name()))
		if err != nil && !one.IsDir() {
			t.Fatal(err)
		}
		got[one.Name()] = string(content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s holds (-want +got):\n%s", folder, diff)
	}
}

func TestReplace_onlyTheOwnerMayReadIt(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "cache", "deep")
	fresh, wider := filepath.Join(folder, "fresh"), filepath.Join(folder, "wider")
	replace(t, fresh, "one")
	write(t, wider, "before", 0o644)
	replace(t, wider, "two")
	holds(t, folder, map[string]string{"fresh": "one", "wider": "two"})
	for name, want := range map[string]os.FileMode{fresh: 0o600, wider: 0o600, folder: os.ModeDir | 0o700, filepath.Dir(folder): os.ModeDir | 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
	}
}

// The target of a link may be a file of another user.
func TestReplace_aSymbolicLinkItself(t *testing.T) {
	t.Parallel()
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "target")
	write(t, elsewhere, "of somebody else", 0o644)
	name := filepath.Join(folder, "link")
	if err := os.Symlink(elsewhere, name); err != nil {
		t.Fatal(err)
	}
	replace(t, name, "new")
	holds(t, folder, map[string]string{"link": "new"})
	holds(t, filepath.Dir(elsewhere), map[string]string{"target": "of somebody else"})
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		t.Errorf("it is %v, %v", info, err)
	}
}

func TestReplace_failsWithoutATrace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "file"), "before", 0o600)
	taken := filepath.Join(folder, "folder")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"below a file": filepath.Join(folder, "file", "x"), "a folder has the name": taken}
	if os.Geteuid() != 0 { // root may write everywhere
		names["a folder that may not be written"] = filepath.Join(folder, "file")
		if err := os.Chmod(folder, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
	}
	for why, name := range names {
		if err := atomicfile.Replace(name, []byte("after")); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
	holds(t, folder, map[string]string{"file": "before", "folder": ""})
	holds(t, taken, map[string]string{"full": ""})
}

// Of many at once the last one wins, and who reads meanwhile finds one of them whole.
func TestReplace_manyAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := filepath.Join(folder, "file")
	whole := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 100_000) }
	replace(t, name, string(whole(0)))
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for range 10 {
				if err := atomicfile.Replace(name, whole(i)); err != nil {
					t.Error(err)
				}
				got, err := os.ReadFile(name)
				if err != nil || len(got) == 0 || !bytes.Equal(got, whole(int(got[0]-'a'))) {
					t.Errorf("read %d bytes that nobody wrote, %v", len(got), err)
				}
			}
		})
	}
	writers.Wait()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The file that a killed process left does no harm, and a sweep removes it and nothing else.
func TestSweep_whatKilledProcessesLeft(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := filepath.Join(folder, "state[1].json")
	write(t, name+".123", "hal", 0o600)
	replace(t, name, "whole")
	others := map[string]string{"state[1].json": "whole", "state[1].json.": "", "state[1].json.5x": "", "state[1].jsonx.5": "", "other.5": "", "state1.json.5": ""}
	for other := range others {
		if other != "state[1].json" {
			write(t, filepath.Join(folder, other), "", 0o600)
		}
	}
	if err := atomicfile.Sweep(name); err != nil {
		t.Fatal(err)
	}
	holds(t, folder, others)
	if err := atomicfile.Sweep(filepath.Join(folder, "nowhere", "file")); err == nil {
		t.Error("a folder that is not there gives no error")
	}
}
