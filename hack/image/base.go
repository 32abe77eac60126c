package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// platforms are those of the image.
func platforms() []v1.Platform {
	return []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
}

// nonRoot is the user of the image, by number so that Kubernetes can verify that it is not
// root. Distroless images use the same.
const nonRoot = 65532

// newBase makes what a static program needs and nothing else: certificates, a user, and
// folders for temporary files and for data. Zones of time are in the program itself. There is
// no shell. The same every time, so that images can be compared.
func newBase() (v1.ImageIndex, error) {
	layer, err := baseLayer()
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms() {
		image, err := baseImage(layer, platform)
		if err != nil {
			return nil, fmt.Errorf("the base for %s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index, nil
}

func baseImage(layer v1.Layer, platform v1.Platform) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: fmt.Sprintf("%d:%d", nonRoot, nonRoot), WorkingDir: "/",
			Env: []string{"PATH=/usr/bin", "SSL_CERT_FILE=/" + certificates},
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{CreatedBy: "hack/image"}})
}

// certificates is where Go and others look for the certificates of authorities.
const certificates = "etc/ssl/certs/ca-certificates.crt"

func baseLayer() (v1.Layer, error) {
	entry := func(name string, mode int64, text string) tar.Header {
		return tar.Header{Name: name, Mode: mode, Size: int64(len(text)), Typeflag: tar.TypeReg}
	}
	folder := func(name string, mode int64, owner int) tar.Header {
		return tar.Header{Name: name, Mode: mode, Uid: owner, Gid: owner, Typeflag: tar.TypeDir}
	}
	const users = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
	const groups = "root:x:0:\nnonroot:x:65532:\n"
	authorities := authorities()
	var text bytes.Buffer
	writer := tar.NewWriter(&text)
	for _, one := range []struct {
		header tar.Header
		text   string
	}{
		{folder("etc/", 0o755, 0), ""},
		{entry("etc/passwd", 0o644, users), users},
		{entry("etc/group", 0o644, groups), groups},
		{folder("etc/ssl/", 0o755, 0), ""},
		{folder("etc/ssl/certs/", 0o755, 0), ""},
		{entry(certificates, 0o644, authorities), authorities},
		{folder("home/", 0o755, 0), ""},
		{folder("home/nonroot/", 0o700, nonRoot), ""},
		{folder("tmp/", 0o1777, 0), ""},
		{folder("var/", 0o755, 0), ""},
		{folder("var/lib/", 0o755, 0), ""},
		// A new volume of Docker takes the owner over.
		{folder("var/lib/promoter/", 0o700, nonRoot), ""},
	} {
		one.header.ModTime, one.header.Format = time.Unix(0, 0), tar.FormatUSTAR
		if err := writer.WriteHeader(&one.header); err != nil {
			return nil, fmt.Errorf("%s: %w", one.header.Name, err)
		}
		if _, err := io.WriteString(writer, one.text); err != nil {
			return nil, fmt.Errorf("%s: %w", one.header.Name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// authorities are those that Mozilla trusts, of the pinned module and not of this
// machine, which may trust more. One that is trusted with a condition is left out: a
// file cannot say it.
func authorities() string {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.String()
}
