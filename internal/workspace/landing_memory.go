package workspace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// maxLandingMemory is the size of the file, in bytes, after which it starts again.
const maxLandingMemory = 16 << 20

// landingMemory is a file beside the mirror, with one line for each verdict. The lock of the
// mirror keeps others from writing it, so it is read once. It implements
// landing.Memory.
type landingMemory struct {
	file     string
	once     sync.Once
	verdicts map[string]string
	known    fs.FileInfo // the file as it was read or written last; nil: there is none, or it is not known
}

// isCurrent reports whether the verdicts are those of the file.
func (m *landingMemory) isCurrent() bool {
	now, err := os.Stat(m.file)
	return err == nil && m.known != nil && os.SameFile(now, m.known) && now.Size() == m.known.Size() && now.ModTime().Equal(m.known.ModTime())
}

// size estimates the memory of the verdicts in bytes.
func (m *landingMemory) size() int64 {
	if m.known == nil {
		return 0
	}
	return 2 * m.known.Size()
}

// rememberedLanding is one line of the file.
type rememberedLanding struct {
	Key     string `json:"key"`
	Verdict string `json:"verdict"`
}

// Load implements landing.Memory.
func (m *landingMemory) Load(key string) (string, bool) {
	m.once.Do(m.read)
	verdict, known := m.verdicts[key]
	return verdict, known
}

func (m *landingMemory) read() {
	m.verdicts = map[string]string{}
	m.known, _ = os.Stat(m.file)
	text, err := os.ReadFile(m.file)
	if err != nil || len(text) > maxLandingMemory {
		_ = os.Remove(m.file) // it is written again
		m.known = nil
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLandingMemory)
	for lines.Scan() {
		var one rememberedLanding
		if json.Unmarshal(lines.Bytes(), &one) == nil { // the last line may be incomplete
			m.verdicts[one.Key] = one.Verdict
		}
	}
}

// Store implements landing.Memory.
func (m *landingMemory) Store(verdicts map[string]string) error {
	m.once.Do(m.read)
	text := []byte("\n") // ends an incomplete line
	for key, verdict := range verdicts {
		m.verdicts[key] = verdict
		line, err := json.Marshal(rememberedLanding{key, verdict})
		if err != nil {
			return fmt.Errorf("remember landings: %w", err)
		}
		text = append(append(text, line...), '\n')
	}
	file, err := os.OpenFile(m.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("remember landings: %w", err)
	}
	_, err = file.Write(text)
	known, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err != nil {
		m.known = nil
		return fmt.Errorf("remember landings: %w", err)
	}
	m.known = known
	return nil
}
