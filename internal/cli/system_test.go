package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// console is a machine of which a test sees the output.
type console struct {
	System
	out, err bytes.Buffer
}

func newConsole(env ...string) *console {
	c := &console{}
	c.System = System{In: strings.NewReader(""), Out: &c.out, Err: &c.err, Env: func(name string) (string, bool) {
		for _, setting := range env {
			if value, ok := strings.CutPrefix(setting, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}}
	return c
}

// run runs a command line and returns its exit code.
func (c *console) run(ctx context.Context, args ...string) int {
	c.out.Reset()
	c.err.Reset()
	return Main(ctx, args, c.System)
}

// folder writes files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// web is a folder with one reference.
func web(t *testing.T) string {
	t.Helper()
	return folder(t, map[string]string{"app.yaml": "image: quay.io/acme/web:1\n"})
}

// brokenWriter is an output that is closed.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
