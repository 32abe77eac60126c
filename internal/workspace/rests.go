package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/engine"
	"promoter/internal/serverfile"
)

const (
	// maxRestAge is how long runs may end at what a full reconciliation left.
	maxRestAge = time.Hour
	// maxRest is the size of the file, in bytes.
	maxRest = 64 << 20
)

// rests is a file beside the mirror with what the last run left that had nothing to do. It is
// valid for one program and one server file. It implements engine.Rests.
type rests struct {
	file string
	made string // see madeBy
	now  func() time.Time
	log  *slog.Logger
}

// restFile is the content of the file.
type restFile struct {
	MadeBy string       `json:"madeBy"`
	At     time.Time    `json:"at"` // of the full reconciliation
	Rest   *engine.Rest `json:"rest"`
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

// Load implements engine.Rests.
func (r rests) Load() *engine.Rest {
	info, err := os.Stat(r.file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRest {
		return nil
	}
	text, err := os.ReadFile(r.file)
	if err != nil {
		return nil
	}
	var kept restFile
	if json.Unmarshal(text, &kept) != nil || kept.MadeBy != r.made {
		return nil
	}
	if age := r.now().Sub(kept.At); age < 0 || age > maxRestAge {
		return nil
	}
	return kept.Rest
}

// Keep implements engine.Rests. A failure costs time.
func (r rests) Keep(rest *engine.Rest) {
	text, err := json.Marshal(restFile{MadeBy: r.made, At: r.now(), Rest: rest})
	if err == nil {
		err = atomicfile.Replace(r.file, text)
	}
	if err != nil {
		r.log.Warn("outcome not kept for the next run", slog.String("file", r.file), slog.Any("error", err))
	}
}
