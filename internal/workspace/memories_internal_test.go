package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/kept"
	"promoter/internal/statebranch"
)

func TestLandingMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), keptFile)
	open := func() landingMemory { return landingMemory{kept.At(path)} }
	first := open()
	if _, known := first.Load("a"); known {
		t.Error("a is known")
	}
	for key, verdict := range map[string]string{"a": "1\n2", "b": "3"} {
		if err := first.Store(map[string]string{key: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	appendTo(t, path, "\x01\x02") // a process that was killed
	if err := open().Store(map[string]string{"d": "4"}); err != nil {
		t.Fatal(err)
	}
	third := open()
	for key, want := range map[string]string{"a": "1\n2", "b": "3", "c": "", "d": "4"} {
		if got, known := third.Load(key); got != want || known != (want != "") {
			t.Errorf("%s is %q, %t", key, got, known)
		}
	}
}

// Above the limit, landings start again. Other memories stay.
func TestLandingMemory_limit(t *testing.T) {
	t.Parallel()
	file := kept.At(filepath.Join(t.TempDir(), keptFile))
	if err := (sealMemory{file}).Remember(t.Context(), statebranch.SealedCommit{Counter: 7}); err != nil {
		t.Fatal(err)
	}
	memory, large := landingMemory{file}, strings.Repeat("x", 1<<20)
	for n := range 2 * maxLandingMemory >> 20 {
		if err := memory.Store(map[string]string{fmt.Sprint(n): large}); err != nil {
			t.Fatal(err)
		}
		if now := file.Memory(); now > maxLandingMemory+2<<20 {
			t.Fatalf("%d bytes in memory", now)
		}
	}
	if _, known := memory.Load("0"); known {
		t.Error("the oldest one is known")
	}
	if _, known := memory.Load(fmt.Sprint(2*maxLandingMemory>>20 - 1)); !known {
		t.Error("the newest one is not known")
	}
	if seal, err := (sealMemory{file}).Newest(t.Context()); err != nil || seal.Counter != 7 {
		t.Errorf("the seal is %+v, %v", seal, err)
	}
}

// Between two reconciliations of one process, the file is read again only if it changed.
func TestDecisions_file(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), keptFile), NewDecisions(1<<20)
	first := all.file("key", path)
	if err := (landingMemory{first}).Store(map[string]string{"a": "1"}); err != nil {
		t.Fatal(err)
	}
	all.kept.Put("key", keptDecisions{file: first}, first.Memory())
	if all.file("key", path) != first {
		t.Error("the file is read again")
	}
	if all.file("other", path) == first {
		t.Error("another repository has the same file")
	}
	if other := all.file("key", path+".other"); other == first || other.Path() != path+".other" {
		t.Errorf("the file in another place is %s", other.Path())
	}
	if unkept := (*Decisions)(nil).file("key", path); unkept == first || unkept.Path() != path {
		t.Errorf("the file without a memory is %s", unkept.Path())
	}
	if err := (landingMemory{kept.At(path)}).Store(map[string]string{"b": "2"}); err != nil { // as another process does
		t.Fatal(err)
	}
	again := landingMemory{all.file("key", path)}
	for key, want := range map[string]string{"a": "1", "b": "2"} {
		if got, _ := again.Load(key); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, known := (landingMemory{all.file("key", path)}).Load("a"); known {
		t.Error("a file that was removed is known")
	}
}

func TestBranchMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), keptFile)
	first, want := &branchMemory{file: kept.At(path)}, map[string]string{"main": "1"}
	if heads := first.Last(); heads != nil {
		t.Errorf("it begins with %v", heads)
	}
	if err := first.Remember(want); err != nil {
		t.Fatal(err)
	}
	for _, memory := range []*branchMemory{first, {file: kept.At(path)}} {
		if diff := cmp.Diff(want, memory.Last()); diff != "" {
			t.Error(diff)
		}
	}
}

// A damaged file is replaced like one that was deleted.
func TestSealMemory_isDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), keptFile)
	want := statebranch.SealedCommit{Counter: 7}
	for _, damage := range []string{"", `{"counter": 9`, "\x00\x0c noise"} {
		if err := (sealMemory{kept.At(path)}).Remember(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got, err := (sealMemory{kept.At(path)}).Newest(t.Context()); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := (sealMemory{kept.At(path)}).Newest(t.Context()); err != nil || got != (statebranch.SealedCommit{}) {
			t.Errorf("damaged to %q: %+v, %v", damage, got, err)
		}
	}
}

// What was found in the files of a mirror that is emptied goes with them, and what is remembered stays.
func TestForgetScans(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := kept.At(filepath.Join(folder, keptFile))
	heads := map[string]string{"main": "1"}
	err := errors.Join(
		(&branchMemory{file: file}).Remember(heads),
		(landingMemory{file}).Store(map[string]string{"a": "1"}),
		file.Write("scan 0123", func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Repeat("x", 1<<20))
			return err
		}),
		forgetScans(folder),
	)
	if err != nil {
		t.Fatal(err)
	}
	file = kept.At(filepath.Join(folder, keptFile))
	if diff := cmp.Diff(heads, (&branchMemory{file: file}).Last()); diff != "" {
		t.Error(diff)
	}
	if verdict, _ := (landingMemory{file}).Load("a"); verdict != "1" {
		t.Errorf("the landing is %q", verdict)
	}
	info, err := os.Stat(file.Path())
	if err != nil || info.Size() > 1000 {
		t.Errorf("%d bytes are left, %v", info.Size(), err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
