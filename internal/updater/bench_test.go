package updater

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"promoter/internal/benchtree"
	"promoter/internal/image"
	"promoter/internal/updater/site"
)

// benchFollower follows the first images of the large tree.
type benchFollower struct {
	known    map[image.Repository]string
	literals []string
}

func newBenchFollower(b *testing.B, names []string) benchFollower {
	b.Helper()
	f := benchFollower{known: map[image.Repository]string{}}
	for i, name := range names {
		repository, err := image.ParseRepository(name)
		if err != nil {
			b.Fatal(err)
		}
		f.known[repository] = fmt.Sprintf("component-%d", i)
		f.literals = append(f.literals, repository.Name())
	}
	return f
}

func (f benchFollower) Follow(_ string, r image.Repository) (site.Followed, bool) {
	component, found := f.known[r]
	return site.Followed{Component: component, Repository: r, Artifact: image.ArtifactImage}, found
}

func (f benchFollower) Named(string, string) (site.Followed, bool) { return site.Followed{}, false }

func (f benchFollower) Literals() []string { return f.literals }

func benchFiles(files []benchtree.File) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, file := range files {
			if !yield(benchFile(file), nil) {
				return
			}
		}
	}
}

func benchFile(file benchtree.File) File {
	return File{Path: file.Path, Size: int64(len(file.Content)), Read: func() ([]byte, error) { return file.Content, nil }}
}

func benchTree(size benchtree.Size) []benchtree.File {
	files := make([]benchtree.File, 0, size.Len())
	for file := range size.Files() {
		files = append(files, file)
	}
	return files
}

// BenchmarkScan scans 20,000 files for one image and for all 2,000.
func BenchmarkScan(b *testing.B) {
	tree := benchTree(benchtree.Full())
	names := benchtree.Full().Images()
	for _, count := range []int{1, 10, len(names)} {
		b.Run(fmt.Sprintf("images=%d", count), func(b *testing.B) {
			updater := New(newBenchFollower(b, names[:count]), Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := updater.Scan(context.Background(), benchFiles(tree)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRewrite scans 20,000 files for all 2,000 images and rewrites every
// file that contains one.
func BenchmarkRewrite(b *testing.B) {
	tree := benchTree(benchtree.Full())
	byPath := map[string]benchtree.File{}
	for _, file := range tree {
		byPath[file.Path] = file
	}
	updater := New(newBenchFollower(b, benchtree.Full().Images()), Options{})
	wanted := func(string) (image.Version, bool) { return image.Version{Tag: "1.5.0"}, true }
	b.ReportAllocs()
	for b.Loop() {
		inventory, err := updater.Scan(context.Background(), benchFiles(tree))
		if err != nil {
			b.Fatal(err)
		}
		for _, reference := range inventory.References {
			result := inventory.Rewrite(context.Background(), benchFile(byPath[reference.Position.File]), wanted)
			if result.Content == nil {
				b.Fatal("unchanged")
			}
		}
	}
}

// BenchmarkRewriteFile rewrites one file.
func BenchmarkRewriteFile(b *testing.B) {
	file := benchTree(benchtree.Size{Applications: 1, Environments: 1})[0]
	updater := New(newBenchFollower(b, benchtree.Full().Images()), Options{})
	wanted := func(string) (image.Version, bool) { return image.Version{Tag: "1.5.0"}, true }
	inventory, err := updater.Scan(context.Background(), benchFiles(nil))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if result := inventory.Rewrite(context.Background(), benchFile(file), wanted); result.Content == nil {
			b.Fatal("unchanged")
		}
	}
}
