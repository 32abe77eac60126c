package benchtree_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/benchtree"
)

func TestFiles_countAndSize(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]benchtree.Size{"full": benchtree.Full(), "small": benchtree.Small()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, total := 0, 0
			for file := range size.Files() {
				files++
				total += len(file.Content)
			}
			if files != size.Len() {
				t.Errorf("%d files, want %d", files, size.Len())
			}
			if mean := total / files; mean < 300 || mean > 420 {
				t.Errorf("a file has %d bytes on average, want about 350", mean)
			}
		})
	}
}

func TestFiles_everyImageStandsOncePerEnvironment(t *testing.T) {
	t.Parallel()
	size := benchtree.Size{Applications: 50, Environments: 3}
	var all bytes.Buffer
	for file := range size.Files() {
		all.Write(file.Content)
	}
	for _, image := range size.Images() {
		entry := fmt.Sprintf("name: %s\n    newTag: %q", image, benchtree.Tag)
		if got := strings.Count(all.String(), entry); got != size.Environments {
			t.Errorf("%s stands %d times, want %d", image, got, size.Environments)
		}
	}
}

func TestFiles_stopsWhenAsked(t *testing.T) {
	t.Parallel()
	seen := 0
	for range benchtree.Full().Files() {
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("%d files seen, want 3", seen)
	}
}

func TestWrite_sameAsFiles(t *testing.T) {
	t.Parallel()
	size, dir := benchtree.Size{Applications: 3, Environments: 2}, t.TempDir()
	if err := size.Write(dir); err != nil {
		t.Fatal(err)
	}
	for file := range size.Files() {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file.Path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, file.Content) {
			t.Errorf("%s differs from what Files yields", file.Path)
		}
	}
}
