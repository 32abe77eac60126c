package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWriteProbe(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is deleted
	if err := writeProbe(file); err != nil {
		t.Error(err)
	}
}

// /dev/full is a full disk.
func TestWriteProbe_findsAFullDisk(t *testing.T) {
	t.Parallel()
	file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if err := writeProbe(file); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}
