package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLandingMemory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "landings")
	open := func() *landingMemory { return &landingMemory{file: file} }
	first := open()
	if _, known := first.Load("a"); known {
		t.Error("a is known")
	}
	for key, verdict := range map[string]string{"a": "1\n2", "b": "3"} {
		if err := first.Store(map[string]string{key: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	appendTo(t, file, `{"key":"c","verd`) // a process that was killed
	second := open()
	if err := second.Store(map[string]string{"d": "4"}); err != nil {
		t.Fatal(err)
	}
	third := open()
	for key, want := range map[string]string{"a": "1\n2", "b": "3", "c": "", "d": "4"} {
		if got, known := third.Load(key); got != want || known != (want != "") {
			t.Errorf("%s is %q, %t", key, got, known)
		}
	}
	if err := os.Truncate(file, maxLandingMemory+1); err != nil {
		t.Fatal(err)
	}
	if _, known := open().Load("a"); known {
		t.Error("a file over the limit is read")
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a file over the limit is still there: %v", err)
	}
}

// Between two reconciliations of one process, the file is read again only if it changed.
func TestObservations_landings(t *testing.T) {
	t.Parallel()
	file, all := filepath.Join(t.TempDir(), "landings"), NewObservations(1<<20)
	first := all.landings("key", file)
	if err := first.Store(map[string]string{"a": "1"}); err != nil {
		t.Fatal(err)
	}
	all.kept.Put("key", observed{landings: first}, first.size())
	if all.landings("key", file) != first {
		t.Error("the file is read again")
	}
	if all.landings("other", file) == first {
		t.Error("another repository has the same landings")
	}
	if err := (&landingMemory{file: file}).Store(map[string]string{"b": "2"}); err != nil { // as another process does
		t.Fatal(err)
	}
	again := all.landings("key", file)
	for key, want := range map[string]string{"a": "1", "b": "2"} {
		if got, _ := again.Load(key); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, known := all.landings("key", file).Load("a"); known {
		t.Error("a file that was removed is known")
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
