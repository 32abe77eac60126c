package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"promoter/internal/atomicfile"
	"promoter/internal/connect"
	"promoter/internal/engine"
)

// seals returns which commits of the state branch of a repository count.
func seals(session *connect.Session, r *connect.Repository, file string, other engine.SealMemory) engine.Seals {
	keys, protected := session.Seals(r)
	memory := sealMemories{sealFile(file)}
	if other != nil {
		memory = append(memory, other)
	}
	return engine.Seals{Keys: keys, Repository: string(r.Key()), Memory: memory, Protected: protected}
}

// sealMemories remember in several places. The newest one counts.
type sealMemories []engine.SealMemory

// Newest implements engine.SealMemory.
func (m sealMemories) Newest(ctx context.Context) (newest engine.SealedCommit, err error) {
	for _, one := range m {
		found, err := one.Newest(ctx)
		if err != nil {
			return engine.SealedCommit{}, err
		}
		if found.Counter > newest.Counter {
			newest = found
		}
	}
	return newest, nil
}

// Remember implements engine.SealMemory.
func (m sealMemories) Remember(ctx context.Context, newest engine.SealedCommit) (err error) {
	for _, one := range m {
		err = errors.Join(err, one.Remember(ctx, newest))
	}
	return err
}

// sealFile remembers in a file beside the mirror, which has the commit. The lock of the
// mirror keeps others from writing it. A damaged file is like one that was deleted with the
// mirror: the other memories count.
type sealFile string

// Newest implements engine.SealMemory.
func (f sealFile) Newest(context.Context) (newest engine.SealedCommit, err error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return engine.SealedCommit{}, nil
	}
	if err != nil {
		return engine.SealedCommit{}, fmt.Errorf("read the newest seal: %w", err)
	}
	var found engine.SealedCommit
	if json.Unmarshal(text, &found) == nil {
		newest = found
	}
	return newest, nil
}

// Remember implements engine.SealMemory.
func (f sealFile) Remember(_ context.Context, newest engine.SealedCommit) error {
	text, err := json.Marshal(newest)
	if err == nil {
		err = atomicfile.Replace(string(f), text)
	}
	if err != nil {
		return fmt.Errorf("remember the newest seal: %w", err)
	}
	return nil
}
