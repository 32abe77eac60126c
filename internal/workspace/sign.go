package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/git/object"
	"promoter/internal/git/signing"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// signCommit stores a commit again, with a signature.
type signCommit func(ctx context.Context, m *mirror, commit string) (string, error)

// signer returns how the commits of a repository are signed; nil: not at all.
func signer(session *connect.Session, r *connect.Repository) signCommit {
	if session.Server.SignsAsApp(r.Forge.Config) {
		return signedByForge(r.SCM, Author(session.Server, r))
	}
	if key := session.SigningKey(); !key.IsZero() {
		return signedWith(key, session.Server.Now)
	}
	return nil
}

// signedWith signs with a key.
func signedWith(key signing.Key, now func() time.Time) signCommit {
	return func(_ context.Context, m *mirror, commit string) (string, error) {
		id, err := object.ParseID(commit)
		if err != nil {
			return "", err
		}
		m.mutex.Lock()
		defer m.mutex.Unlock()
		signed, err := m.git.Objects.Sign(id, func(payload []byte) (string, error) { return key.Sign(payload, now()) })
		return signed.String(), err
	}
}

// signedByForge has the forge make the commit, with its own signature. What it signed is stored
// here too, byte for byte, and pushed like any other commit: no branch moves before.
func signedByForge(forge scm.Repository, by repo.Signature) signCommit {
	return func(ctx context.Context, m *mirror, id string) (string, error) {
		committing, ok := forge.(scm.Committing)
		if !ok {
			return "", fault.New(fault.Internal, "the forge makes no commits")
		}
		commit, err := m.Commit(id)
		if err != nil {
			return "", err
		}
		wanted, err := m.newCommit(commit)
		if err != nil {
			return "", err
		}
		made, err := committing.Commit(ctx, wanted)
		if err != nil {
			return "", err
		}
		if err := m.storeSigned(made); err != nil {
			return "", err
		}
		signed, err := m.Commit(made.ID)
		if err != nil {
			return "", err
		}
		if signed.Tree != commit.Tree || !slices.Equal(signed.Parents, commit.Parents) || trimmed(signed) != trimmed(commit) {
			return "", fault.New(fault.Invalid, "the forge made the commit %.7s of other content", made.ID)
		}
		if !by.Committed(signed) { // the next reconciliation would take it for that of a user
			author, committer := signed.Author, signed.Committer
			return "", fault.New(fault.Invalid, "the forge made a commit of %s <%s>, committed by %s <%s>, want one of %s <%s>",
				author.Name, author.Email, committer.Name, committer.Email, by.Name, by.Email)
		}
		return made.ID, nil
	}
}

func trimmed(commit repo.Commit) string { return strings.TrimRight(commit.Message, "\n") }

// newCommit returns a stored commit as one to make.
func (m *mirror) newCommit(commit repo.Commit) (scm.NewCommit, error) {
	wanted, parent := scm.NewCommit{Message: commit.Message, Parents: commit.Parents, Tree: commit.Tree}, ""
	if len(commit.Parents) > 0 {
		parent = commit.Parents[0]
		base, err := m.Root(parent)
		if err != nil {
			return wanted, err
		}
		wanted.Base = base.String()
	}
	changed, err := m.Changed(parent, commit.ID)
	if err != nil {
		return wanted, err
	}
	for _, path := range changed {
		file, err := m.newFile(commit.ID, path)
		if err != nil {
			return wanted, fmt.Errorf("read %s: %w", path, err)
		}
		wanted.Files = append(wanted.Files, file)
	}
	return wanted, nil
}

// newFile returns a file of a commit as one to write, or to delete if it has none.
func (m *mirror) newFile(commit, path string) (file scm.NewFile, err error) {
	file.Path = path
	err = m.withTree(commit, func(tree *object.Tree) error {
		entry, err := tree.Entry(path)
		if err != nil {
			return repo.IgnoreNotFound(err)
		}
		if file.Mode, err = tree.FileMode(path); err == nil {
			file.Content, err = entry.Read(object.MaxSize)
		}
		return err
	})
	return file, err
}

// storeSigned stores a commit that a forge made.
func (m *mirror) storeSigned(made scm.SignedCommit) error {
	id, err := object.ParseID(made.ID)
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.git.Objects.WriteSigned(id, made.Payload, made.Signature)
}
