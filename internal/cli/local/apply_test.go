package local

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
)

// An apply that cannot write everything names the files that it wrote.
func TestApply_namesWrittenFilesAfterAFailure(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\nenvironments:\n  dev: {paths: [dev]}\n  prod: {paths: [prod]}\n",
		"dev/app.yaml":   "image: quay.io/acme/web:1\n",
		"prod/app.yaml":  "image: quay.io/acme/web:1\n",
	}
	for i := range 100 { // every name of a temporary file is taken
		files[fmt.Sprintf("prod/.promoter-%d.tmp", i)] = ""
	}
	c := consoletest.New()
	code := c.Run(t.Context(), NewApply, "--dir", consoletest.Folder(t, files), "--with", "quay.io/acme/web:2")
	if want := "promoter: wrote dev/app.yaml\npromoter: wrote 1 file\npromoter: write default in prod: "; code != console.ExitFailed || !strings.HasPrefix(c.Err.String(), want) {
		t.Errorf("exit %d, %q, want %q", code, c.Err.String(), want)
	}
}
