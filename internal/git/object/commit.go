package object

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"promoter/internal/fault"
)

// Commit is one commit.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID // also those of a shallow commit, which are not stored
	Author    Signature
	Committer Signature
	Message   string // unchanged, including its trailers
	Trailers  Trailers

	// Shallow reports that the first-parent history ends here because it was not
	// fetched any further: there is a first parent, and it is not stored.
	Shallow bool
}

// Commit returns a commit. It fails with NotFound if the commit is not stored.
func (s *Store) Commit(id ID) (Commit, error) {
	boundary, err := s.boundary()
	if err != nil {
		return Commit{}, err
	}
	commit, err := s.commit(id, boundary)
	if errors.Is(err, ErrMissing) {
		err = fault.Wrap(fault.NotFound, err)
	}
	return commit, err
}

// commit is Commit with the boundary of the shallow history.
func (s *Store) commit(id ID, boundary map[ID]bool) (Commit, error) {
	commit, err := s.encoded.commit(id)
	if err != nil {
		return Commit{}, err
	}
	commit.Shallow = boundary[id] && len(commit.Parents) > 0 && !s.Has(commit.Parents[0])
	return commit, nil
}

// commit returns a commit without Shallow.
func (o encodedObjects) commit(id ID) (Commit, error) {
	if kept, ok := o.cache.commits.Get(id); ok {
		return kept, nil
	}
	content, err := o.read(plumbing.CommitObject, id, MaxSize)
	if err != nil {
		return Commit{}, err
	}
	encoded := &plumbing.MemoryObject{}
	encoded.SetType(plumbing.CommitObject)
	_, err = encoded.Write(content)
	decoded := object.Commit{}
	if err = errors.Join(err, decoded.Decode(encoded)); err != nil {
		return Commit{}, fault.Wrap(fault.Invalid, fmt.Errorf("read the commit %s: %w", id, err))
	}
	commit := Commit{
		ID: id, Tree: ID(decoded.TreeHash),
		Author: signatureOf(decoded.Author), Committer: signatureOf(decoded.Committer),
		Message: decoded.Message, Trailers: ParseTrailers(decoded.Message),
	}
	for _, parent := range decoded.ParentHashes {
		commit.Parents = append(commit.Parents, ID(parent))
	}
	o.cache.keepCommit(commit)
	return commit, nil
}

// History yields the first-parent history of a commit, starting with the commit
// itself: the commits that a branch pointed to, newest first. It ends at a root
// commit or a Shallow one, and after the first error.
func (s *Store) History(from ID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		boundary, err := s.boundary()
		if err != nil {
			yield(Commit{}, err)
			return
		}
		for {
			commit, err := s.commit(from, boundary)
			if !yield(commit, err) || err != nil || commit.Shallow || len(commit.Parents) == 0 {
				return
			}
			from = commit.Parents[0]
		}
	}
}

// CheckHistory checks that all commits reachable from head are stored, down to the
// shallow boundary. It adds them to checked and does not visit those that are in it.
// A missing commit is ErrMissing.
func (s *Store) CheckHistory(ctx context.Context, head ID, checked map[ID]bool) error {
	boundary, err := s.boundary()
	if err != nil {
		return err
	}
	for open := []ID{head}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if checked[id] {
			continue
		}
		checked[id] = true
		if err := ctx.Err(); err != nil {
			return fault.Wrap(fault.Temporary, err)
		}
		commit, err := s.commit(id, boundary)
		if err != nil {
			return err
		}
		for _, parent := range commit.Parents {
			if !boundary[id] || s.Has(parent) {
				open = append(open, parent)
			}
		}
	}
	return nil
}

// HasParents reports whether all parents of a commit are stored.
func (s *Store) HasParents(id ID) (bool, error) {
	commit, err := s.commit(id, nil)
	for _, parent := range commit.Parents {
		if !s.Has(parent) {
			return false, err
		}
	}
	return true, err
}

// Signature is the author or the committer of a commit, and the time. It is not
// authenticated: anyone can write any name.
type Signature struct {
	Name  string
	Email string
	When  time.Time // whole seconds, with the offset from UTC
}

func signatureOf(s object.Signature) Signature {
	return Signature{Name: s.Name, Email: s.Email, When: s.When}
}

// encode returns the signature as it is written in a commit.
func (s Signature) encode() (string, error) {
	name, email := sanitize(s.Name), sanitize(s.Email)
	if name == "" || email == "" {
		return "", fault.New(fault.Invalid, "a signature needs a name and an email address, not %.100q and %.100q", s.Name, s.Email)
	}
	if s.When.Unix() <= 0 {
		return "", fault.New(fault.Invalid, "the signature of %.100q has no time", s.Name)
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, s.When.Unix(), s.When.Format("-0700")), nil
}

// sanitize removes what has a meaning in a commit header, and the characters that
// Git strips from both ends of a name. Invalid UTF-8 becomes U+FFFD.
func sanitize(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '<' || r == '>' {
			return -1
		}
		return r
	}, name)
	return strings.Trim(name, ` .,:;"\'`)
}
