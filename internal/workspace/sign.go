package workspace

import (
	"context"

	"promoter/internal/connect"
	"promoter/internal/git/object"
)

// signCommit stores a commit again, with a signature.
type signCommit func(ctx context.Context, objects *object.Store, commit object.ID) (object.ID, error)

// signer returns how commits are signed; nil: not at all.
func signer(session *connect.Session) signCommit {
	key, now := session.SigningKey(), session.Server.Now
	if key.IsZero() {
		return nil
	}
	return func(_ context.Context, objects *object.Store, commit object.ID) (object.ID, error) {
		return objects.Sign(commit, func(payload []byte) (string, error) { return key.Sign(payload, now()) })
	}
}
