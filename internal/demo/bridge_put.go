package demo

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// body is the body of a request.
type body map[string]any

// named is an object reference in the API.
type named struct{ SHA string }

// put uploads one object to the forge, which must compute the same ID as Git.
func (b *bridge) put(ctx context.Context, kind string, id plumbing.Hash, what body) error {
	var answer named
	if err := b.forge.ask(ctx, "POST", b.path+"/git/"+kind, what, &answer); err != nil {
		return err
	}
	if answer.SHA != id.String() {
		return fmt.Errorf("the forge computes the id %.40q for what is %s in Git", answer.SHA, id)
	}
	b.both[id] = true
	return nil
}

func (b *bridge) putCommit(ctx context.Context, id plumbing.Hash) error {
	if b.both[id] {
		return nil
	}
	commit, err := object.GetCommit(b.storer, id)
	if err != nil {
		return fmt.Errorf("read commit %s: %w", id, err)
	}
	parents := []string{}
	for _, parent := range commit.ParentHashes {
		parents = append(parents, parent.String())
		if err := b.putCommit(ctx, parent); err != nil {
			return err
		}
	}
	if err := b.putTree(ctx, commit.TreeHash); err != nil {
		return err
	}
	return b.put(ctx, "commits", id, body{
		"message": commit.Message, "tree": commit.TreeHash.String(), "parents": parents,
		"author": signed(commit.Author), "committer": signed(commit.Committer),
	})
}

// signature is an author or committer in the API.
type signature struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	Date  time.Time `json:"date"`
}

func signed(s object.Signature) signature { return signature{s.Name, s.Email, s.When} }

// inGit returns the signature of a Git object, which has no fractions of a
// second.
func (s signature) inGit() object.Signature {
	return object.Signature{Name: s.Name, Email: s.Email, When: s.Date.Truncate(time.Second)}
}

func (b *bridge) putTree(ctx context.Context, id plumbing.Hash) error {
	if b.both[id] {
		return nil
	}
	tree, err := object.GetTree(b.storer, id)
	if err != nil {
		return fmt.Errorf("read tree %s: %w", id, err)
	}
	entries := []entry{}
	for _, e := range tree.Entries {
		kind, put := "blob", b.putBlob
		if e.Mode == filemode.Dir {
			kind, put = "tree", b.putTree
		}
		if err := put(ctx, e.Hash); err != nil {
			return err
		}
		entries = append(entries, entry{e.Name, fmt.Sprintf("%06o", uint32(e.Mode)), kind, e.Hash.String()})
	}
	return b.put(ctx, "trees", id, body{"tree": entries})
}

// entry is one entry of a tree in the API.
type entry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
}

func (b *bridge) putBlob(ctx context.Context, id plumbing.Hash) error {
	if b.both[id] {
		return nil
	}
	blob, err := object.GetBlob(b.storer, id)
	if err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	reader, err := blob.Reader()
	if err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	return b.put(ctx, "blobs", id, body{"content": base64.StdEncoding.EncodeToString(content), "encoding": "base64"})
}
