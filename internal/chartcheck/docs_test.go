package chartcheck

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
)

// The values in the documents are values of the chart. What a page leaves out is as in least.
func TestDocuments_valuesAreRendered(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```yaml\n(# values\\.yaml\n.*?)```")
	count := 0
	root := os.DirFS("../..")
	err := fs.WalkDir(root, "docs", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(root, name)
		for _, found := range block.FindAllStringSubmatch(string(text), -1) {
			values, err := chartutil.ReadValues([]byte(found[1]))
			if err != nil {
				t.Errorf("%s: %v in\n%s", name, err, found[1])
				continue
			}
			count++
			if _, err := render(chartutil.CoalesceTables(values, least())); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, found[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 5 {
		t.Errorf("only %d blocks found", count)
	}
}
