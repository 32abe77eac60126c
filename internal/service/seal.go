package service

import (
	"context"

	"promoter/internal/statebranch"
	"promoter/internal/store"
)

// sealMemory remembers the newest seal of a repository in the database. It implements
// statebranch.SealMemory.
type sealMemory struct {
	store *store.Store
	key   string // of the repository
}

// Newest implements statebranch.SealMemory.
func (m sealMemory) Newest(ctx context.Context) (newest statebranch.SealedCommit, err error) {
	newest.Counter, newest.Commit, err = m.store.Seals.Newest(ctx, m.key)
	return newest, err
}

// Remember implements statebranch.SealMemory.
func (m sealMemory) Remember(ctx context.Context, newest statebranch.SealedCommit) error {
	return m.store.Seals.Remember(ctx, m.key, newest.Counter, newest.Commit)
}
