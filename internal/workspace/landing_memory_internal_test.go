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
