package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"promoter/internal/database/databasetest"
)

func TestMain(m *testing.M) {
	defer built.remove()
	databasetest.Main(m, "shared_preload_libraries=pg_stat_statements") // counts the statements of the fleet
}

// built is the program, made when it is needed first.
var built program

type program struct {
	once   sync.Once
	folder string
	err    error
}

// path builds promoter as a release does.
func (p *program) path(b testing.TB) string {
	b.Helper()
	p.once.Do(func() {
		if p.folder, p.err = os.MkdirTemp("", "promoter-load-"); p.err != nil {
			return
		}
		build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", p.file(), "promoter/cmd/promoter")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			p.err = fmt.Errorf("build promoter: %w\n%s", err, out)
		}
	})
	if p.err != nil {
		b.Fatal(p.err)
	}
	return p.file()
}

func (p *program) file() string { return filepath.Join(p.folder, "promoter") }

func (p *program) remove() {
	if p.folder != "" {
		_ = os.RemoveAll(p.folder)
	}
}
