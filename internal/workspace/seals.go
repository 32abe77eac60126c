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
	"promoter/internal/statebranch"
)

// seals returns which commits of the state branch of a repository count.
func seals(session *connect.Session, r *connect.Repository, file string, other statebranch.SealMemory) statebranch.Seals {
	keys, protected := session.Seals(r)
	memory := sealMemories{sealFile(file)}
	if other != nil {
		memory = append(memory, other)
	}
	return statebranch.Seals{Keys: keys, Repository: string(r.Key()), Memory: memory, Protected: protected}
}

// sealMemories remember in several places. The newest one counts.
type sealMemories []statebranch.SealMemory

// Newest implements statebranch.SealMemory.
func (m sealMemories) Newest(ctx context.Context) (newest statebranch.SealedCommit, err error) {
	for _, one := range m {
		found, err := one.Newest(ctx)
		if err != nil {
			return statebranch.SealedCommit{}, err
		}
		if found.Counter > newest.Counter {
			newest = found
		}
	}
	return newest, nil
}

// Remember implements statebranch.SealMemory.
func (m sealMemories) Remember(ctx context.Context, newest statebranch.SealedCommit) (err error) {
	for _, one := range m {
		err = errors.Join(err, one.Remember(ctx, newest))
	}
	return err
}

// sealFile remembers in a file beside the mirror, which has the commit. The lock of the
// mirror keeps others from writing it. A damaged file is like one that was deleted with the
// mirror: the other memories count.
type sealFile string

// Newest implements statebranch.SealMemory.
func (f sealFile) Newest(context.Context) (newest statebranch.SealedCommit, err error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return statebranch.SealedCommit{}, nil
	}
	if err != nil {
		return statebranch.SealedCommit{}, fmt.Errorf("read the newest seal: %w", err)
	}
	var found statebranch.SealedCommit
	if json.Unmarshal(text, &found) == nil {
		newest = found
	}
	return newest, nil
}

// Remember implements statebranch.SealMemory.
func (f sealFile) Remember(_ context.Context, newest statebranch.SealedCommit) error {
	text, err := json.Marshal(newest)
	if err == nil {
		err = atomicfile.Replace(string(f), text)
	}
	if err != nil {
		return fmt.Errorf("remember the newest seal: %w", err)
	}
	return nil
}
