package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/kept"
	"promoter/internal/rendered"
)

// What cannot be rendered is known to the next process, and an owner who makes always other files does not let the file grow.
func TestRenderingMemory_keepsTheLatestFailures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), keptFile)
	before := renderingMemory{kept.At(path)}
	for i := range maxFailures + 5 {
		if err := before.Store(fmt.Sprint(i), rendered.Failure{Problem: fmt.Sprintf("failure %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	after := renderingMemory{kept.At(path)}
	for i, want := range map[int]bool{0: false, 4: false, 5: true, maxFailures + 4: true} {
		failure, known := after.Load(fmt.Sprint(i))
		if known != want || known && failure.Problem != fmt.Sprintf("failure %d", i) {
			t.Errorf("failure %d: %+v, %v", i, failure, known)
		}
	}
}

// A file of which only the beginning is read would be rendered as if that were all.
func TestCommitTree_refusesLargeFiles(t *testing.T) {
	t.Parallel()
	url, _ := gitRepository(t, map[string]string{"small": strings.Repeat("a", 2048), "large": strings.Repeat("a", 2049)})
	w := openWorkspace(t, url)
	head := fetchMain(t, w)
	from, ok := w.Reconciler.Clients.Objects.(*mirror)
	if !ok {
		t.Fatalf("the objects are in %T", w.Reconciler.Clients.Objects)
	}
	tree := commitTree{from, head}
	if content, err := tree.Read("small", 2048); err != nil || len(content) != 2048 {
		t.Errorf("%d bytes, %v", len(content), err)
	}
	content, err := tree.Read("large", 2048)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(fmt.Sprint(err), "larger than 2 KiB") {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}
