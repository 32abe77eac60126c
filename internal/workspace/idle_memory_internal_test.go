package workspace

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/engine"
	"promoter/internal/serverfile"
)

// What a run left counts for the same program and server file, and for an hour.
func TestIdleMemory_countsForAnHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	r := &idleMemory{file: filepath.Join(t.TempDir(), "idle.json"), made: "this", now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler)}
	if r.Load() != nil {
		t.Error("there is one before any run")
	}
	r.Keep(&engine.IdleRun{Default: "main"})
	valid := func(what string, want bool) {
		t.Helper()
		if got := r.Load(); (got != nil) != want || want && got.Default != "main" {
			t.Errorf("%s: %+v", what, got)
		}
	}
	valid("at once", true)
	now = now.Add(maxIdleAge)
	valid("after an hour", true)
	now = now.Add(time.Second)
	valid("later", false)
	now = now.Add(-2 * maxIdleAge)
	valid("with a clock that went back", false)
	now = now.Add(maxIdleAge)
	r.made = "other"
	valid("for another program", false)
	r.made = "this"
	for _, damage := range []string{"", `{"madeBy": "this"`, "\x00 noise"} {
		if err := os.WriteFile(r.file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		valid("damaged", false)
	}
}

// A reading that began early counts for one Load, and for none after Keep.
func TestIdleMemory_readsEarlyOnce(t *testing.T) {
	t.Parallel()
	r := &idleMemory{file: filepath.Join(t.TempDir(), "idle.json"), made: "this", now: time.Now, log: slog.New(slog.DiscardHandler)}
	loads := func(want string) {
		t.Helper()
		if got := r.Load(); got == nil || got.Default != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	r.Keep(&engine.IdleRun{Default: "main"})
	r.begin()
	r.begun()
	other := idleMemory{file: r.file, made: r.made, now: r.now, log: r.log}
	other.Keep(&engine.IdleRun{Default: "trunk"})
	loads("main")
	loads("trunk")
	r.begin()
	r.Keep(&engine.IdleRun{Default: "own"})
	loads("own")
}

func TestMadeBy_namesTheServerFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "server.yaml")
	of := func(content string) string {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return madeBy(&serverfile.Server{File: &serverconfig.Config{File: file}})
	}
	first, changed, back := of("version: 1\n"), of("version: 1\nlimits: []\n"), of("version: 1\n")
	if first == "" || first == changed || first != back {
		t.Errorf("%q, %q, %q", first, changed, back)
	}
	if standalone := madeBy(&serverfile.Server{Standalone: true}); standalone == "" || standalone == first {
		t.Errorf("without a server file: %q", standalone)
	}
	if missing := madeBy(&serverfile.Server{File: &serverconfig.Config{File: file + ".missing"}}); missing != "" {
		t.Errorf("with a missing one: %q", missing)
	}
}
