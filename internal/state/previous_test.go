package state_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/state"
)

// What the previous release wrote is read as it was meant, and written the same.
func TestRead_whatThePreviousReleaseWrote(t *testing.T) {
	t.Parallel()
	files, branch := map[string]string{}, os.DirFS("testdata/previous")
	err := fs.WalkDir(branch, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(branch, path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, files)
	if problems := s.Problems(); len(problems) > 0 {
		t.Error(problems)
	}
	staging := state.Target{Environment: "staging", Application: "shop"}
	if got := held(s, staging, noon); got != "shop in staging held by ada" {
		t.Errorf("staging is held: %q", got)
	}
	if rejections := s.At(staging).Rejections; len(rejections) != 1 || rejections[0].Number != 1 {
		t.Errorf("rejections %+v", rejections)
	}
	if comments := s.At(everyone).ProcessedComments; len(comments) != 1 {
		t.Errorf("processed comments %+v", comments)
	}
	if diff := cmp.Diff(files, whole(s)); diff != "" {
		t.Errorf("the files change (-before +after):\n%s", diff)
	}
}
