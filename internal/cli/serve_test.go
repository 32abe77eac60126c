package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
)

// Log lines have the same content in both formats.
func TestNewLog(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"json": `"took":"1.234s"`, "text": "took=1.234s"} {
		var out bytes.Buffer
		log, err := newLog(&out, format, "info")
		if err != nil {
			t.Fatal(err)
		}
		log.Info("reconciled", slog.Duration("took", 1234*time.Millisecond+time.Microsecond))
		log.Debug("not written")
		if !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: %s", format, out.String())
		}
	}
	for _, wrong := range [][2]string{{"xml", "info"}, {"json", "loud"}} {
		if _, err := newLog(nil, wrong[0], wrong[1]); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// A secret that is not there is named with the key of the file that wants it.
func TestServe_secretWithItsKey(t *testing.T) {
	t.Parallel()
	for key, text := range map[string]string{
		"database.url": `database: {url: "env:NONE"}`,
		"api.token":    `api: {token: "env:NONE"}`,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "promoter-server.yaml")
		text = "version: 1\nlisten: 127.0.0.1:0\ndata: " + filepath.Join(dir, "data") + "\n" + text +
			"\nforges: {github: {kind: github, app: {id: 1, key: \"env:NONE\"}}}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := consoletest.New()
		want := "promoter: " + key + ": secret env:NONE: the environment variable is not set\n"
		if code := c.Run(t.Context(), root, "serve", "--config", file); code != console.ExitFailed || !strings.HasSuffix(c.Err.String(), want) {
			t.Errorf("exit %d, %q, want %q", code, c.Err.String(), want)
		}
	}
}
