package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPackageOf(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]string{
		"main.main":                      "main",
		"net/http.(*Client).Do":          "net/http",
		"gopkg.in/inf%2ev0.(*Dec).Cmp":   "gopkg.in/inf.v0",
		"example.com/a/b.F[go.shape.x/y": "example.com/a/b",
		"type:.eq.example.com/a.T":       "example.com/a",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("%s is of %q, want %q", function, got, want)
		}
	}
}

func TestModuleOf(t *testing.T) {
	t.Parallel()
	modules := []string{"promoter", "example.com/a", "example.com/a/v2"}
	for pkg, want := range map[string]string{
		"main": "promoter", "promoter/internal/x": "promoter", "example.com/a/v2/b": "example.com/a/v2", "example.com/ab": "the standard library",
	} {
		if got := moduleOf(pkg, modules); got != want {
			t.Errorf("%s is of %q, want %q", pkg, got, want)
		}
	}
}

// A program without symbols, as it is released, still has the sizes of its functions. One that is larger than the
// limit is an error.
func TestReport_limitsTheSize(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "size")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var modules, packages strings.Builder
	if err := report(&modules, program, 1<<30, false); err != nil || !strings.Contains(modules.String(), "the standard library") {
		t.Errorf("%v\n%s", err, modules.String())
	}
	if err := report(&packages, program, 0, true); err != nil || !strings.Contains(packages.String(), "debug/elf") {
		t.Errorf("%v\n%s", err, packages.String())
	}
	err := report(&modules, program, 1<<20, false)
	if err == nil || !strings.Contains(err.Error(), "MB, more than 1.0 MB") {
		t.Errorf("%v", err)
	}
}
