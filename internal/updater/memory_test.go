package updater_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/image"
	"promoter/internal/updater"
)

// memoryFiles are files of which one refers to another, and one is refused.
func memoryFiles() map[string]string {
	return map[string]string{
		"plain.yaml":   "kind: Pod\nspec: {containers: [{image: \"quay.io/acme/web:1.0.0\"}]}\n",
		"other.yaml":   "a: b\n",
		"refused.yaml": "kind: Pod\nimage: quay.io/acme/web:1\n  broken: [\n",
		"repo.yaml":    "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: acme, namespace: flux}\nspec: {type: oci, url: \"oci://quay.io/acme/charts\"}\n",
		"release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop, namespace: flux}\nspec: {chart: {spec: {chart: shop, version: 1.0.0, sourceRef: {kind: HelmRepository, name: acme}}}}\n",
	}
}

func memoryFollower(t *testing.T) updater.Follower {
	t.Helper()
	return newGoldenFollower(t, map[string]goldenComponent{
		"web": {Image: "quay.io/acme/web"}, "shop": {Chart: "oci://quay.io/acme/charts/shop"},
	})
}

// remembering scans files that count how often they are read.
func remembering(t *testing.T, memory *updater.Memory, files map[string]string) (*updater.Inventory, int) {
	t.Helper()
	reads := 0
	scanned := make([]updater.File, 0, len(files))
	for path, content := range files {
		scanned = append(scanned, updater.File{
			Path: path, Size: int64(len(content)), ID: fmt.Sprintf("%x", content),
			Read: func() ([]byte, error) { reads++; return []byte(content), nil },
		})
	}
	u := updater.New(memoryFollower(t), updater.Options{Workers: 1, Memory: memory})
	inventory, err := u.Scan(t.Context(), func(yield func(updater.File, error) bool) {
		for _, file := range scanned {
			if !yield(file, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return inventory, reads
}

func sameInventory(t *testing.T, want, got *updater.Inventory) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(updater.Inventory{}), cmpopts.EquateEmpty(), cmp.Comparer(func(a, b image.Repository) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	files := memoryFiles()
	want, _ := remembering(t, nil, files)
	if len(want.References) < 2 || len(want.Refusals) == 0 {
		t.Fatalf("the files hold too little: %+v", want)
	}
	memory := updater.NewMemory()
	for range 2 {
		got, _ := remembering(t, memory, files)
		sameInventory(t, want, got)
	}
	var kept bytes.Buffer
	if _, err := memory.WriteTo(&kept); err != nil {
		t.Fatal(err)
	}
	memory = updater.ReadMemory(&kept)
	got, reads := remembering(t, memory, files)
	sameInventory(t, want, got)
	// The release is looked at twice each time, because another file decides what
	// it means, and the refused one again: reading it may work the next time.
	if reads > 3 {
		t.Errorf("%d files were read again", reads)
	}
	files["plain.yaml"] = "kind: Pod\nspec: {containers: [{image: \"quay.io/acme/web:2.0.0\"}]}\n"
	changed, _ := remembering(t, nil, files)
	got, _ = remembering(t, memory, files)
	sameInventory(t, changed, got)
}

func TestMemory_damaged(t *testing.T) {
	t.Parallel()
	memory := updater.ReadMemory(bytes.NewReader([]byte("nonsense")))
	want, _ := remembering(t, nil, memoryFiles())
	got, _ := remembering(t, memory, memoryFiles())
	sameInventory(t, want, got)
}

// A file that could not be read is asked again: the next time it may work.
func TestMemory_unreadable(t *testing.T) {
	t.Parallel()
	memory := updater.NewMemory()
	failing := true
	scan := func() *updater.Inventory {
		u := updater.New(memoryFollower(t), updater.Options{Memory: memory})
		inventory, err := u.Scan(t.Context(), func(yield func(updater.File, error) bool) {
			yield(updater.File{Path: "a.yaml", ID: "1", Read: func() ([]byte, error) {
				if failing {
					return nil, errors.New("the disk is on fire")
				}
				return []byte("image: quay.io/acme/web:1.0.0\n"), nil
			}}, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		return inventory
	}
	if found := scan(); len(found.Refusals) != 1 {
		t.Errorf("refusals: %v", found.Refusals)
	}
	failing = false
	if found := scan(); len(found.References) != 1 {
		t.Errorf("references: %v", found.References)
	}
}
