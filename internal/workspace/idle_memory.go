package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/engine"
	"promoter/internal/serverfile"
)

const (
	// maxIdleAge is how long runs may end at what a full reconciliation left.
	maxIdleAge = time.Hour
	// maxIdle is the size of the file, in bytes.
	maxIdle = 64 << 20
)

// idleMemory is a file beside the mirror with what the last run left that had nothing to do. It is
// valid for one program and one server file. It implements engine.IdleRuns.
type idleMemory struct {
	file string
	made string // see madeBy
	now  func() time.Time
	log  *slog.Logger
	// begun is a reading of the file that began early. Nil: none did, or it was used.
	begun func() *engine.IdleRun
}

// idleFile is the content of the file.
type idleFile struct {
	MadeBy string          `json:"madeBy"`
	At     time.Time       `json:"at"` // of the full reconciliation
	Idle   *engine.IdleRun `json:"idle"`
}

// madeBy identifies the program and the server file: another program, or other limits and
// permissions, may decide in another way. Empty: not known.
func madeBy(server *serverfile.Server) string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%d %d %t\n", info.Size(), info.ModTime().UnixNano(), server.Standalone)
	if build, ok := debug.ReadBuildInfo(); ok {
		_, _ = fmt.Fprintln(sum, build.String())
	}
	if !server.Standalone {
		text, err := os.ReadFile(server.File.File)
		if err != nil {
			return ""
		}
		_, _ = sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// begin reads the file for the first Load, while the run lists the branches and waits for Git.
func (m *idleMemory) begin() {
	m.begun = sync.OnceValue(m.read)
	go m.begun()
}

// Load implements engine.IdleRuns.
func (m *idleMemory) Load() *engine.IdleRun {
	if begun := m.begun; begun != nil {
		m.begun = nil
		return begun()
	}
	return m.read()
}

func (m *idleMemory) read() *engine.IdleRun {
	info, err := os.Stat(m.file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIdle {
		return nil
	}
	text, err := os.ReadFile(m.file)
	if err != nil {
		return nil
	}
	var kept idleFile
	if json.Unmarshal(text, &kept) != nil || kept.MadeBy != m.made {
		return nil
	}
	if age := m.now().Sub(kept.At); age < 0 || age > maxIdleAge {
		return nil
	}
	return kept.Idle
}

// Keep implements engine.IdleRuns. A failure costs time.
func (m *idleMemory) Keep(idle *engine.IdleRun) {
	m.begun = nil
	text, err := json.Marshal(idleFile{MadeBy: m.made, At: m.now(), Idle: idle})
	if err == nil {
		err = atomicfile.Replace(m.file, text)
	}
	if err != nil {
		m.log.Warn("outcome not kept for the next run", slog.String("file", m.file), slog.Any("error", err))
	}
}
