package docscheck

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGuidesQuoteTheExamples compares the files in the guide of each example with those of
// config/examples, which a test of the whole program reconciles.
func TestGuidesQuoteTheExamples(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	quoted := regexp.MustCompile("(?ms)^```yaml\n# file: (\\S+)\n(.*?)^```$")
	pages, err := fs.Glob(files, "docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range pages {
		example := "config/examples/" + strings.TrimSuffix(path.Base(page), ".md")
		if _, err := fs.Stat(files, example); err != nil {
			continue
		}
		for _, found := range quoted.FindAllStringSubmatch(read(t, files, page), -1) {
			count++
			file := example + "/repository/" + found[1]
			if diff := cmp.Diff(read(t, files, file), found[2]); diff != "" {
				t.Errorf("%s quotes %s (-file +page):\n%s", page, file, diff)
			}
		}
	}
	if count < 15 {
		t.Errorf("only %d quotations found", count)
	}
}
