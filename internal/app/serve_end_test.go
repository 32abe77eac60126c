package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// A reconciliation ends after a few landings and is queued again, so that steady releases
// never delay its end. Without another trigger, a new version reaches the end of a long
// chain of environments.
func TestServe_endsAndContinues(t *testing.T) {
	t.Parallel()
	const length = 9
	s := newStory(t, "github", reviewed)
	text := "version: 1\ncomponents: {web: {image: $R/acme/web, select: {semver: \">=1\"}}}\nenvironments:\n"
	files := map[string]string{}
	for i := range length {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(", after: [e%d]", i-1)
		}
		text += fmt.Sprintf("  e%d: {paths: [\"e%[1]d/{application}.yaml\"], land: push%s}\n", i, after)
		files[fmt.Sprintf("e%d/shop.yaml", i)] = s.manifest("web:1.0.0")
	}
	files[".promoter.yaml"] = s.expand(text)
	s.repo.Git.Commit("ada", "main", "A long chain", files)
	w := serve(t, s)
	s.release("web", "1.1.0")
	w.notify("web:1.1.0")
	landed := func() (n int) {
		for i := range length {
			if strings.Contains(s.repo.Git.Run("show", fmt.Sprintf("main:e%d/shop.yaml", i)), ":1.1.0") {
				n++
			}
		}
		return n
	}
	w.reconciles()
	if n := landed(); n != length {
		t.Errorf("it landed in %d of %d environments", n, length)
	}
	w.stop()
}
