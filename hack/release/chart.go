package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// chart packs the Helm chart under the version of the release.
func (r release) chart(ctx context.Context) error {
	helm, err := tool(ctx, "helm")
	if err != nil {
		return err
	}
	if err := execute(ctx, nil, helm, "package", "--version", r.version, "--app-version", r.version, "--destination", r.work, "charts/promoter"); err != nil {
		return err
	}
	packed, err := os.Open(filepath.Join(r.work, r.chartName()))
	if err != nil {
		return err
	}
	defer packed.Close() //nolint:errcheck // it is only read
	content, err := withTime(packed, r.time)
	if err != nil {
		return fmt.Errorf("repack the chart: %w", err)
	}
	return os.WriteFile(filepath.Join(r.out, r.chartName()), content, 0o644) //nolint:gosec // releases are public
}

func (r release) chartName() string { return "promoter-" + r.version + ".tgz" }

// withTime repacks an archive with one time for all files: helm writes that of the build.
func withTime(from io.Reader, at time.Time) ([]byte, error) {
	unpacked, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	reader := tar.NewReader(unpacked)
	var to bytes.Buffer
	packed := gzip.NewWriter(&to)
	writer := tar.NewWriter(packed)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		plain := &tar.Header{Name: header.Name, Mode: 0o644, Size: header.Size, ModTime: at, Typeflag: header.Typeflag, Format: tar.FormatPAX}
		if err := writer.WriteHeader(plain); err != nil {
			return nil, err
		}
		if _, err := io.Copy(writer, reader); err != nil { //nolint:gosec // our own chart
			return nil, err
		}
	}
	if err := errors.Join(writer.Close(), packed.Close()); err != nil {
		return nil, err
	}
	return to.Bytes(), nil
}
