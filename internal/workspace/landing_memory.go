package workspace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	text, err := os.ReadFile(m.file)
	if err != nil || len(text) > maxLandingMemory {
		_ = os.Remove(m.file) // it is written again
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
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("remember landings: %w", err)
	}
	return nil
}
