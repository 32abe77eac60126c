package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const checksumFile = "SHA256SUMS"

func checksum(file string) (string, error) {
	content, err := os.ReadFile(file) //nolint:gosec // files of the release
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// files returns the names of the files of a release that are built; signatures and the folder of
// the image are not among them.
func files(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && entry.Name() != checksumFile && !strings.HasSuffix(entry.Name(), bundleSuffix) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// writeChecksums writes the file that sha256sum --check reads.
func writeChecksums(folder string) error {
	names, err := files(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range names {
		sum, err := checksum(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(folder, checksumFile), []byte(text.String()), 0o644) //nolint:gosec // releases are public
}
