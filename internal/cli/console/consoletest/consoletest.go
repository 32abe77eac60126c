// Package consoletest runs commands in tests, which see what a command prints.
package consoletest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
)

// Console is a machine of which a test sees the output.
type Console struct {
	System   console.System
	Out, Err bytes.Buffer
}

// New returns a machine with these variables, as in NAME=VALUE, and no terminal.
func New(env ...string) *Console {
	c := &Console{}
	c.System = console.System{In: strings.NewReader(""), Out: &c.Out, Err: &c.Err, Env: func(name string) (string, bool) {
		for _, setting := range env {
			if value, ok := strings.CutPrefix(setting, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}}
	return c
}

// Run runs one command, without the root that it is below, and returns its exit code.
func (c *Console) Run(ctx context.Context, command func(console.System) *cobra.Command, args ...string) int {
	c.Out.Reset()
	c.Err.Reset()
	return console.Run(ctx, command(c.System), args, c.System)
}

// Folder writes files and returns their folder.
func Folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
