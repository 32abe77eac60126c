package serverfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
)

// A service that starts again has the same key, so that sessions continue.
func TestMakeSessionKey_makesOne(t *testing.T) {
	t.Parallel()
	s := &Server{File: &serverconfig.Config{Data: t.TempDir()}, Now: time.Now}
	first, err := MakeSessionKey(s)
	if err != nil || len(first.Reveal()) < 32 {
		t.Fatalf("%v", err)
	}
	if again, err := MakeSessionKey(s); err != nil || again.Reveal() != first.Reveal() {
		t.Errorf("another key: %v", err)
	}
	if info, err := os.Stat(filepath.Join(s.File.Data, "session.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestSessionKey_mustBeLong(t *testing.T) {
	t.Parallel()
	reference, err := serverconfig.ParseReference("env:KEY")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{File: &serverconfig.Config{API: serverconfig.API{SessionKey: reference}}, Env: func(string) (string, bool) { return "short", true }}
	if _, err := SessionKey(s); fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), `"short"`) {
		t.Errorf("%v", err)
	}
	s.Env = func(string) (string, bool) { return strings.Repeat("k", 32), true }
	if key, err := SessionKey(s); err != nil || len(key.Reveal()) != 32 {
		t.Errorf("%v", err)
	}
}
