package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// written is a layout as ko writes one: an index in an index.
func written(t *testing.T, entrypoint ...string) string {
	t.Helper()
	base, err := newBase()
	if err != nil {
		t.Fatal(err)
	}
	images, err := partial.FindImages(base, func(v1.Descriptor) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.IndexMediaType(empty.Index, "application/vnd.oci.image.index.v1+json")
	for i, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		config = config.DeepCopy()
		config.Config.Entrypoint = entrypoint
		config.Config.Labels = map[string]string{"org.opencontainers.image.version": "1.2.3"}
		if image, err = mutate.ConfigFile(image, config); err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platforms()[i]}})
	}
	folder := filepath.Join(t.TempDir(), "layout")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := path.AppendIndex(index); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "root")
	var said bytes.Buffer
	if err := unpack(written(t, "/ko-app/promoter"), to, "linux/arm64", &said); err != nil {
		t.Fatal(err)
	}
	if want := "65532:65532\n1.2.3\n/ko-app/promoter\n"; said.String() != want {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
	users, err := os.ReadFile(filepath.Join(to, "etc/passwd"))
	if err != nil || !strings.Contains(string(users), "nonroot:x:65532") {
		t.Errorf("etc/passwd: %q, %v", users, err)
	}
	info, err := os.Stat(filepath.Join(to, "tmp"))
	if err != nil || info.Mode().String() != "dtrwxrwxrwx" {
		t.Errorf("tmp: %v, %v", info.Mode(), err)
	}
}

func TestUnpack_refusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		layout, platform, says string
	}{
		"no such platform": {written(t, "/p"), "linux/s390x", "no image for linux/s390x"},
		"no program":       {written(t), "linux/amd64", "want one program"},
		"no layout":        {t.TempDir(), "linux/amd64", "read the layout"},
	} {
		err := unpack(test.layout, filepath.Join(t.TempDir(), "root"), test.platform, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}

// ko's names begin with a slash.
func TestExtract_fromTheRoot(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	if err := extractEntry(t, to, tar.Header{Name: "/ko-app/promoter", Typeflag: tar.TypeReg, Mode: 0o555}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(to, "ko-app/promoter"))
	if err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("%v, %v", info, err)
	}
}

// extractEntry unpacks an archive of one entry.
func extractEntry(t *testing.T, to string, header tar.Header) error {
	t.Helper()
	var text bytes.Buffer
	writer := tar.NewWriter(&text)
	if err := writer.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	return extract(root, tar.NewReader(&text))
}

// A layer that leaves its folder, or links somewhere, is refused.
func TestExtract_refusals(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]tar.Header{
		"outside": {Name: "../outside", Typeflag: tar.TypeReg, Mode: 0o644},
		"a link":  {Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
	} {
		if err := extractEntry(t, t.TempDir(), header); err == nil {
			t.Errorf("%s is unpacked", name)
		}
	}
}
