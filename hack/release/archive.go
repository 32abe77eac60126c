package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// archive packs the program of a platform with what users need beside it.
func (r release) archive(p platform, shared map[string]string) error {
	files := maps.Clone(shared)
	files[p.program()] = r.binary(p)
	write := writeTar
	name := r.archiveName(p)
	switch p.system {
	case "windows":
		write = writeZip
	case "linux":
		files["systemd/promoter.service"] = systemdUnit
	}
	file, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	return errors.Join(write(file, r.name(p), files, p.program(), r.time), file.Close())
}

func (r release) archiveName(p platform) string {
	extension := ".tar.gz"
	if p.system == "windows" {
		extension = ".zip"
	}
	return r.name(p) + extension
}

// mode makes the program alone executable. The modes of files here depend on the umask.
func mode(name, program string) int64 {
	if name == program {
		return 0o755
	}
	return 0o644
}

// writeTar writes files below a folder in the order of their names, so that the same files give
// the same bytes.
func writeTar(to io.Writer, folder string, files map[string]string, program string, at time.Time) error {
	packed := gzip.NewWriter(to)
	writer := tar.NewWriter(packed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[name])
		if err != nil {
			return err
		}
		header := &tar.Header{Name: folder + "/" + name, Mode: mode(name, program), Size: int64(len(content)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		if _, err := writer.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(writer.Close(), packed.Close())
}

// writeZip does the same for Windows.
func writeZip(to io.Writer, folder string, files map[string]string, program string, at time.Time) error {
	writer := zip.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[name])
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: folder + "/" + name, Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(mode(name, program))) //nolint:gosec // 0644 or 0755
		entry, err := writer.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return writer.Close()
}
