package image

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// readCorpus reads a table from the tests of other projects. The data is not
// part of this repository, so the test is skipped if it is missing.
func readCorpus(t *testing.T, name string, rows any) {
	t.Helper()
	corpus := os.Getenv("PROMOTER_CORPUS")
	if corpus == "" {
		t.Skip("PROMOTER_CORPUS is not set: the tables of other projects are not at hand")
	}
	data, err := os.ReadFile(filepath.Join(corpus, "policies", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, rows); err != nil {
		t.Fatal(err)
	}
}
