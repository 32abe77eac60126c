package load

import (
	"fmt"
	"testing"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
)

// world is the registry and the Git server of one benchmark.
type world struct {
	*benchworld.World
	b testing.TB
}

func newWorld(b *testing.B) *world {
	b.Helper()
	w, err := benchworld.Start(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Close)
	return &world{World: w, b: b}
}

// tree makes a repository with the tree of all benchmarks and returns its name.
func (w *world) tree(name string, size benchtree.Size) string {
	w.b.Helper()
	if err := w.Tree(w.b.Context(), name, size); err != nil {
		w.b.Fatal(err)
	}
	return name
}

// follower makes a repository that follows images by their moving tag, in one
// environment that is pushed to. It returns its name.
func (w *world) follower(name string, images ...string) string {
	w.b.Helper()
	config, manifest := "version: 1\ncomponents:\n", ""
	for n, image := range images {
		config += fmt.Sprintf("  c%d: {image: %s/%s, select: {tag: %s}, pin: tag+digest}\n", n, w.Host, image, benchworld.MovingTag)
		manifest += fmt.Sprintf("---\nkind: Pod\nspec: {containers: [{image: \"%s/%s:%s@%s\"}]}\n", w.Host, image, benchworld.MovingTag, benchworld.Digest(image, 0))
	}
	config += "environments:\n  dev: {land: push}\n"
	name = "load/" + name + ".git"
	if err := w.Repository(w.b.Context(), name, map[string]string{".promoter.yaml": config, "pods.yaml": manifest}); err != nil {
		w.b.Fatal(err)
	}
	return name
}
