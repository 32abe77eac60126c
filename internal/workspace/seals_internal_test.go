package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"promoter/internal/statebranch"
)

// A damaged file is replaced like one that was deleted.
func TestSealFile_isDamaged(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "seal")
	want := statebranch.SealedCommit{Counter: 7}
	for _, damage := range []string{"", `{"counter": 9`, "\x00\x0c noise"} {
		memory := sealFile(file)
		if err := memory.Remember(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got, err := memory.Newest(t.Context()); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := memory.Newest(t.Context()); err != nil || got != (statebranch.SealedCommit{}) {
			t.Errorf("damaged to %q: %+v, %v", damage, got, err)
		}
	}
}
