package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/checkout"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scan"
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

func repository(t *testing.T, name string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// placeOf makes a place in a state.
func placeOf(name string, state promotion.State, reason string) checkout.TargetPreview {
	environment, application, _ := strings.Cut(name, "/")
	return checkout.TargetPreview{Decision: promotion.Decision{
		Target: promotion.Target{Environment: environment, Application: application},
		State:  state, Reason: promotion.Reason{Message: reason}, Snapshot: promotion.Snapshot{},
	}}
}

// change gives a place a file that changes.
func change(target checkout.TargetPreview, file, before, after string) checkout.TargetPreview {
	target.Files = append(target.Files, scan.FileChange{Path: file, Before: []byte(before), After: []byte(after)})
	target.Changes = append(target.Changes, edit.Change{
		Component: "web", Shape: "reference", Position: edit.Position{File: file, Line: 1, Column: 8}, From: "a:1", To: "a:2",
	})
	return target
}
