package updater_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/updater"
)

// A panic while one file is scanned fails only the scan, and no other worker goes on
// with the remaining files.
func TestScan_aDefect(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 4} {
		var read atomic.Int64
		files := func(yield func(updater.File, error) bool) {
			for i := range 10_000 {
				text := func() ([]byte, error) {
					if read.Add(1) == 5 {
						panic("an index out of range")
					}
					return []byte("image: " + webV1 + "\n"), nil
				}
				if !yield(updater.File{Path: fmt.Sprintf("%d.yaml", i), Read: text}, nil) {
					return
				}
			}
		}
		inventory, err := updater.New(engineFollower(), updater.Options{Workers: workers}).Scan(t.Context(), files)
		if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "an index out of range") {
			t.Errorf("%d workers: %v, %v", workers, inventory, err)
		}
		if n := read.Load(); n > 5 && workers == 1 {
			t.Errorf("%d files were read after the defect", n-5)
		}
	}
}
