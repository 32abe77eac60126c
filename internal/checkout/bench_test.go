package checkout_test

import (
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/checkout"
	"promoter/internal/image"
)

// BenchmarkPlan plans in a folder of 20,000 files with given versions: of one
// image, and of every image in it.
func BenchmarkPlan(b *testing.B) {
	size := benchtree.Full()
	dir := b.TempDir()
	if err := size.Write(dir); err != nil {
		b.Fatal(err)
	}
	images := size.Images()
	b.Run("one image", func(b *testing.B) { benchmarkPlan(b, dir, images[1:2]) })
	b.Run("all images", func(b *testing.B) { benchmarkPlan(b, dir, images) })
}

func benchmarkPlan(b *testing.B, dir string, images []string) {
	texts := make([]string, 0, len(images))
	for _, name := range images {
		texts = append(texts, name+":1.5.0")
	}
	given, err := image.ParseExplicitVersions(texts, nil)
	if err != nil {
		b.Fatal(err)
	}
	opened, err := checkout.Open(dir, given)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		preview, err := opened.Plan(b.Context(), checkout.Options{Explicit: given, Now: time.Now})
		if err != nil {
			b.Fatal(err)
		}
		if _, files, _ := preview.Count(); files < len(images) {
			b.Fatalf("%d files", files)
		}
	}
}
