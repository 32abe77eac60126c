package updater_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/shapes"
)

func indexFollower(t *testing.T) shapes.Follower {
	t.Helper()
	return newGoldenFollower(t, map[string]goldenComponent{
		"web": {Image: "quay.io/acme/web"}, "shop": {Chart: "oci://quay.io/acme/charts/shop"},
	})
}

// branchFiles are the files of a branch. It counts how often they are read.
type branchFiles struct {
	content map[string]string
	reads   int
}

func (b *branchFiles) file(path string) updater.File {
	return updater.File{Path: path, Read: func() ([]byte, error) {
		content, found := b.content[path]
		if b.reads++; !found || content == "unreadable" {
			return nil, errors.New("the disk is on fire")
		}
		return []byte(content), nil
	}}
}

func (b *branchFiles) all() iter.Seq2[updater.File, error] {
	return func(yield func(updater.File, error) bool) {
		for path := range b.content {
			if !yield(b.file(path), nil) {
				return
			}
		}
	}
}

// difference returns how the branch differs from its previous content.
func (b *branchFiles) difference(before map[string]string, unread []string) updater.Difference {
	d := updater.Difference{Open: func(path string) (updater.File, error) { return b.file(path), nil }}
	for path, content := range b.content {
		if was, known := before[path]; !known || was != content || slices.Contains(unread, path) {
			d.Files = append(d.Files, b.file(path))
		}
	}
	for path := range before {
		if _, still := b.content[path]; !still {
			d.Gone = append(d.Gone, path)
		}
	}
	return d
}

// possible returns random file content: references, the sources that they need,
// refused content, and content without references.
func possible(r *rand.Rand) string {
	version := fmt.Sprintf("1.%d.0", r.IntN(4))
	name := []string{"acme", "other"}[r.IntN(2)]
	switch r.IntN(8) {
	case 0, 1:
		return "kind: Pod\nspec: {containers: [{image: \"quay.io/acme/web:" + version + "\"}]}\n"
	case 2:
		url := []string{"oci://quay.io/acme/charts", "oci://quay.io/acme/other"}[r.IntN(2)]
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: " + name + ", namespace: flux}\nspec: {type: oci, url: \"" + url + "\"}\n"
	case 3, 4:
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop, namespace: flux}\nspec: {chart: {spec: {chart: shop, version: " + version + ", sourceRef: {kind: HelmRepository, name: " + name + "}}}}\n"
	case 5:
		return "kind: Pod\nimage: quay.io/acme/web:1\n  broken: [\n"
	case 6:
		return "unreadable"
	default:
		return "a: b\n"
	}
}

// edited returns the branch after some files were added, changed, moved or
// removed.
func edited(r *rand.Rand, content map[string]string) map[string]string {
	next := maps.Clone(content)
	for range r.IntN(4) {
		path := fmt.Sprintf("%c/%c.yaml", 'a'+rune(r.IntN(3)), 'a'+rune(r.IntN(6)))
		switch old, found := next[path]; {
		case found && r.IntN(3) == 0:
			delete(next, path)
			next["moved/"+path] = old
		case found && r.IntN(2) == 0:
			delete(next, path)
		default:
			next[path] = possible(r)
		}
	}
	return next
}

// An index derived from differences must equal a scan of all files.
func TestIndex_randomEdits(t *testing.T) {
	t.Parallel()
	u := updater.New(indexFollower(t), updater.Options{Workers: 1})
	for seed := range uint64(10) {
		followEdits(t, u, seed)
	}
}

// followEdits edits a branch a hundred times, deterministically for each seed.
func followEdits(t *testing.T, u *updater.Updater, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // no secret
	index, branch := u.NewIndex(), &branchFiles{content: map[string]string{}}
	for step := range 100 {
		before := branch.content
		branch.content = edited(r, before)
		earlier := index.Inventory(slices.Sorted(maps.Keys(before))...)
		next, touched, err := index.Next(t.Context(), branch.difference(before, index.Unread()))
		if err != nil {
			t.Fatal(err)
		}
		found, err := u.Scan(t.Context(), branch.all())
		if err != nil {
			t.Fatal(err)
		}
		if diff := indexDiff(found, next.Inventory(slices.Sorted(maps.Keys(branch.content))...)); diff != "" {
			t.Fatalf("seed %d, step %d: (-scan +index)\n%s", seed, step, diff)
		}
		if diff := indexDiff(earlier, index.Inventory(slices.Sorted(maps.Keys(before))...)); diff != "" {
			t.Fatalf("seed %d, step %d: an earlier index changed\n%s", seed, step, diff)
		}
		checkTouched(t, index, next, before, touched)
		if index = next; r.IntN(50) == 0 {
			index = reread(t, u, index)
		}
	}
}

// checkTouched checks that files that are not listed have not changed.
func checkTouched(t *testing.T, before, after *updater.Index, files map[string]string, touched []string) {
	t.Helper()
	for path := range files {
		if slices.Contains(touched, path) {
			continue
		}
		if diff := indexDiff(before.Inventory(path), after.Inventory(path)); diff != "" {
			t.Errorf("%s changed and is not named:\n%s", path, diff)
		}
	}
}

func indexDiff(want, got *updater.Inventory) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(updater.Inventory{}), cmpopts.IgnoreFields(updater.Inventory{}, "Notes"),
		cmpopts.EquateEmpty(), cmp.Comparer(func(a, b image.Repository) bool { return a == b }))
}

// reread encodes and decodes an index, as another process would read it.
func reread(t *testing.T, u *updater.Updater, index *updater.Index) *updater.Index {
	t.Helper()
	var kept bytes.Buffer
	if err := index.Encode(&kept); err != nil {
		t.Fatal(err)
	}
	read, err := u.ReadIndex(&kept)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestIndex_readsWhatDiffersAlone(t *testing.T) {
	t.Parallel()
	u := updater.New(indexFollower(t), updater.Options{Workers: 1})
	branch := &branchFiles{content: map[string]string{}}
	for i := range 100 {
		branch.content[fmt.Sprintf("%d.yaml", i)] = fmt.Sprintf("image: quay.io/acme/web:1.%d.0\n", i)
	}
	index, _, err := u.NewIndex().Next(t.Context(), branch.difference(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	before := branch.content
	branch.content, branch.reads = maps.Clone(before), 0
	branch.content["7.yaml"] = "image: quay.io/acme/web:2.0.0\n"
	next, touched, err := index.Next(t.Context(), branch.difference(before, nil))
	if err != nil || branch.reads != 1 || !slices.Equal(touched, []string{"7.yaml"}) {
		t.Errorf("%d files were read, touched %v, %v", branch.reads, touched, err)
	}
	if found := next.Inventory("7.yaml").References; len(found) != 1 || found[0].Tag != "2.0.0" {
		t.Errorf("found %v", found)
	}
}

func TestIndex_cancelled(t *testing.T) {
	t.Parallel()
	u := updater.New(indexFollower(t), updater.Options{Workers: 1})
	branch := &branchFiles{content: map[string]string{"a.yaml": "image: quay.io/acme/web:1.0.0\n"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := u.NewIndex().Next(ctx, branch.difference(nil, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancelled scan", err)
	}
}

func TestReadIndex_damaged(t *testing.T) {
	t.Parallel()
	u := updater.New(indexFollower(t), updater.Options{})
	if _, err := u.ReadIndex(bytes.NewReader([]byte("nonsense"))); err == nil {
		t.Error("nonsense was read as an index")
	}
}
