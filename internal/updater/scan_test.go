package updater_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/updater"
)

// A panic while one file is scanned fails only the scan, and neither the reader
// of the files nor the other workers block on the failed worker.
func TestScan_aDefect(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 4} {
		read := 0
		files := func(yield func(updater.File, error) bool) {
			for ; read < 10_000; read++ {
				text := content("image: " + webV1 + "\n")
				if read == 5 {
					text = func() ([]byte, error) { panic("an index out of range") }
				}
				if !yield(updater.File{Path: fmt.Sprintf("%d.yaml", read), Read: text}, nil) {
					return
				}
			}
		}
		inventory, err := updater.New(engineFollower(), updater.Options{Workers: workers}).Scan(t.Context(), files)
		if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "an index out of range") {
			t.Errorf("%d workers: %v, %v", workers, inventory, err)
		}
		if read == 10_000 && workers == 1 {
			t.Errorf("%d files were read after the defect", read)
		}
	}
}
