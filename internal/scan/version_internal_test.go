package scan

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/updater"
)

func bufioReader(content []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(content)) }

// The digest of everything that the scanner of this version finds in the golden
// files of the updater.
const (
	goldenVersion = 19
	goldenDigest  = "e267469fa3b2b9688e6cb290e4bc2a1d3c1faad47320abf29c3a828b6764fae7"
)

// TestVersion is a reminder to increase the version when the scanner finds something
// else in the same files. Otherwise, an upgraded process would use saved scans that
// its own scanner would not have made.
func TestVersion(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata", "updater")
	all := updater.New(everything{}, updater.Options{Workers: 1})
	hash, files := sha256.New(), 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(filepath.ToSlash(name), "/before/") {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file := updater.File{Path: filepath.ToSlash(path), Read: func() ([]byte, error) { return content, nil }}
		found, _, err := all.NewIndex().Next(t.Context(), updater.Difference{Files: []updater.File{file}})
		if err != nil {
			return err
		}
		files++
		return json.NewEncoder(hash).Encode(found.Inventory(file.Path))
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d golden files in %s", files, root)
	}
	if digest := hex.EncodeToString(hash.Sum(nil)); digest != goldenDigest || version != goldenVersion {
		t.Errorf("the scanner's results changed: increase version in cache.go, and set goldenVersion to it and goldenDigest to %q", digest)
	}
}
