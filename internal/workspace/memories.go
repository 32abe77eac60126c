package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"promoter/internal/connect"
	"promoter/internal/kept"
	"promoter/internal/statebranch"
)

// keptFile is the file beside a mirror with all that is remembered about the repository. It stays when the mirror is replaced
// or emptied, but then without the scans.
const keptFile = "kept"

// Names of values in the file. That of a landing is followed by its key. Package scan has its own.
const (
	nameHeads      = "heads"
	nameSeal       = "seal"
	nameLanding    = "landing "
	nameRenderings = "renderings"
)

// branchMemory implements observe.BranchMemory.
type branchMemory struct {
	file  *kept.File
	once  sync.Once
	heads map[string]string
}

// Last implements observe.BranchMemory. Heads that cannot be read are like none.
func (m *branchMemory) Last() map[string]string {
	m.once.Do(func() { m.heads, _ = kept.Load[map[string]string](m.file, nameHeads) })
	return m.heads
}

// Remember implements observe.BranchMemory.
func (m *branchMemory) Remember(heads map[string]string) error {
	if err := kept.Store(m.file, nameHeads, heads); err != nil {
		return fmt.Errorf("remember the branches: %w", err)
	}
	m.once.Do(func() {})
	m.heads = heads
	return nil
}

// maxLandingMemory is the memory of all values, in bytes, above which landings are forgotten.
const maxLandingMemory = 32 << 20

// landingMemory implements landing.Memory.
type landingMemory struct{ file *kept.File }

// Load implements landing.Memory.
func (m landingMemory) Load(key string) (string, bool) {
	verdict, known, err := m.file.Get(nameLanding + key)
	return verdict, known && err == nil
}

// Store implements landing.Memory.
func (m landingMemory) Store(verdicts map[string]string) error {
	if m.file.Memory() > maxLandingMemory {
		if err := m.file.Forget(func(name string) bool { return strings.HasPrefix(name, nameLanding) }); err != nil {
			return fmt.Errorf("forget landings: %w", err)
		}
	}
	values := map[string]string{}
	for key, verdict := range verdicts {
		values[nameLanding+key] = verdict
	}
	if err := m.file.Put(values); err != nil {
		return fmt.Errorf("remember landings: %w", err)
	}
	return nil
}

// sealMemory implements statebranch.SealMemory. A file that is damaged is like one that was deleted with the mirror, which
// has the commit: the other memories count.
type sealMemory struct{ file *kept.File }

// Newest implements statebranch.SealMemory.
func (m sealMemory) Newest(context.Context) (statebranch.SealedCommit, error) {
	newest, err := kept.Load[statebranch.SealedCommit](m.file, nameSeal)
	if err != nil {
		return newest, fmt.Errorf("read the newest seal: %w", err)
	}
	return newest, nil
}

// Remember implements statebranch.SealMemory.
func (m sealMemory) Remember(_ context.Context, newest statebranch.SealedCommit) error {
	if err := kept.Store(m.file, nameSeal, newest); err != nil {
		return fmt.Errorf("remember the newest seal: %w", err)
	}
	return nil
}

// seals returns which commits of the state branch of a repository count.
func seals(session *connect.Session, r *connect.Repository, file *kept.File, other statebranch.SealMemory) statebranch.Seals {
	keys, protected := session.Seals(r)
	memory := sealMemories{sealMemory{file}}
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
