package main

import (
	"archive/tar"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

func TestBase(t *testing.T) {
	t.Parallel()
	base, err := newBase()
	if err != nil {
		t.Fatal(err)
	}
	images, err := partial.FindImages(base, func(v1.Descriptor) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, config.Platform().String())
		if config.Config.User != "65532:65532" {
			t.Errorf("the user is %q: Kubernetes has to see by its number that it is not root", config.Config.User)
		}
		checkFiles(t, image)
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, names); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// checkFiles holds the list of files, so that nothing comes in unseen.
func checkFiles(t *testing.T, image v1.Image) {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close() //nolint:errcheck // it is only read
	files := tar.NewReader(stream)
	modes := map[string]string{}
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.FileInfo().Mode().String()
		if header.Name == certificates {
			checkCertificates(t, files)
		}
	}
	want := map[string]string{
		"etc": "drwxr-xr-x", "etc/passwd": "-rw-r--r--", "etc/group": "-rw-r--r--",
		"etc/ssl": "drwxr-xr-x", "etc/ssl/certs": "drwxr-xr-x", certificates: "-rw-r--r--",
		"home": "drwxr-xr-x", "home/nonroot": "drwx------", "tmp": "dtrwxrwxrwx",
		"var": "drwxr-xr-x", "var/lib": "drwxr-xr-x", "var/lib/promoter": "drwx------",
	}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func checkCertificates(t *testing.T, from io.Reader) {
	t.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	var count int
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			t.Error(err)
		}
		count++
	}
	// Mozilla trusts some 140; far fewer would be a mistake here.
	if count < 100 {
		t.Errorf("%d authorities", count)
	}
}

// The same every time, so that two builds of a commit can be compared.
func TestBase_isTheSameEachTime(t *testing.T) {
	t.Parallel()
	var digests [2]v1.Hash
	for i := range digests {
		base, err := newBase()
		if err != nil {
			t.Fatal(err)
		}
		if digests[i], err = base.Digest(); err != nil {
			t.Fatal(err)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("%s, then %s", digests[0], digests[1])
	}
}
