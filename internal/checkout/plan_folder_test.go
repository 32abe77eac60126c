package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// A file that vanishes after it was found stops its own application.
func TestPlan_aFileVanishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml":       webConfig,
		"apps/shop/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
		"apps/blog/dev/a.yaml": "image: $R/acme/web:1.4.0\n",
	})
	w.push("acme/web:1.5.0", "new")
	options := w.options()
	options.Environments = []string{"dev"}
	options.Progress = func(string, int, int) {
		if err := os.Remove(filepath.Join(w.dir, "apps/blog/dev/a.yaml")); err != nil {
			t.Error(err)
		}
	}
	_, preview := w.plan(options)
	blog, shop := preview.Targets[0], preview.Targets[1]
	if blog.State != "refused" || !strings.Contains(blog.Reason.String(), "apps/blog/dev/a.yaml: cannot be read again: ") || blog.Changed() {
		t.Errorf("%s: %s", blog.State, blog.Reason)
	}
	if !shop.Changed() {
		t.Errorf("%s: %s", shop.State, shop.Reason)
	}
}

func TestPlan_fileLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"large.yaml": "image: quay.io/acme/web:1\n" + strings.Repeat("# filler\n", 100),
		"other.yaml": "image: quay.io/acme/other:1\n" + strings.Repeat("# filler\n", 100),
	})
	options := w.options()
	options.Explicit, options.MaxFileSize = w.given("quay.io/acme/web:2"), 100
	_, preview := w.plan(options)
	if refusals := preview.Targets[0].Refusals; len(refusals) != 1 || refusals[0].File != "large.yaml" {
		t.Errorf("refusals: %v", refusals)
	}
	for _, limit := range []int64{-1, 32<<20 + 1} {
		options.MaxFileSize = limit
		if _, _, err := w.tryPlan(t.Context(), options); fault.KindOf(err) != fault.Invalid {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestPlan_foldersOfOddForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"tree/a.yaml":         "image: quay.io/acme/web:1\n",
		"tree/ü \n\x1b.yaml":  "image: quay.io/acme/web:1\n",
		"tree/.git/a.yaml":    "image: quay.io/acme/web:1\n",
		"tree/x/.git/b.yaml":  "image: quay.io/acme/web:1\n",
		"tree/-dash/--x.yaml": "image: quay.io/acme/web:1\n",
		"tree/\xff\xfe.yaml":  "image: quay.io/acme/web:1\n",
	})
	given := w.given("quay.io/acme/web:2")
	link := filepath.Join(t.TempDir(), "link")
	symlink(t, filepath.Join(w.dir, "tree"), link)
	for _, dir := range []string{"tree", "tree/", "tree/.", "tree/x/.."} {
		checkFolder(t, w.dir+"/"+dir, given)
	}
	checkFolder(t, link, given)
	checkFolder(t, link+"/", given)
}

func checkFolder(t *testing.T, dir string, given image.ExplicitVersions) {
	t.Helper()
	opened, err := checkout.Open(dir, given)
	if err != nil {
		t.Fatal(err)
	}
	preview, err := opened.Plan(t.Context(), checkout.Options{Explicit: given, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, file := range preview.Targets[0].Files {
		files = append(files, file.Path)
	}
	want := []string{"-dash/--x.yaml", "a.yaml", "ü \n\x1b.yaml", "\xff\xfe.yaml"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("%s (-want +got):\n%s", dir, diff)
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
