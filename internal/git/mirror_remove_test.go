package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
)

// A mirror goes when nobody uses it, and is made anew when somebody wants it again.
func TestRemove(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	dir := filepath.Join(t.TempDir(), "mirror")
	if err := git.Remove(t.Context(), dir); err != nil {
		t.Errorf("where there is none: %v", err)
	}
	used := openedIn(t, dir, o.remoteFile())
	ctx, cancel := contextWith(t, 100*time.Millisecond)
	defer cancel()
	if err := git.Remove(ctx, dir); fault.KindOf(err) != fault.Temporary {
		t.Errorf("in use: %v", err)
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	if err := git.Remove(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is left: %v", err)
	}
	openedIn(t, dir, o.remoteFile())
}
