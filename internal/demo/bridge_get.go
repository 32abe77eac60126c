package demo

import (
	"context"
	"encoding/base64"
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// keep stores an object from the forge if the forge's data results in its ID.
func (b *bridge) keep(id plumbing.Hash, encode func(plumbing.EncodedObject) error) error {
	made := b.storer.NewEncodedObject()
	if err := encode(made); err != nil {
		return fmt.Errorf("write %s: %w", id, err)
	}
	if made.Hash() != id {
		return fmt.Errorf("what the forge tells of %s is %s in Git", id, made.Hash())
	}
	if _, err := b.storer.SetEncodedObject(made); err != nil {
		return fmt.Errorf("write %s: %w", id, err)
	}
	b.both[id] = true
	return nil
}

func (b *bridge) has(id plumbing.Hash) bool { return b.storer.HasEncodedObject(id) == nil }

func (b *bridge) getCommit(ctx context.Context, id plumbing.Hash) error {
	if b.has(id) {
		return nil
	}
	var told struct {
		Message           string
		Author, Committer signature
		Tree              named
		Parents           []named
	}
	if err := b.forge.ask(ctx, "GET", b.path+"/git/commits/"+id.String(), nil, &told); err != nil {
		return err
	}
	commit := object.Commit{
		Author: told.Author.inGit(), Committer: told.Committer.inGit(), TreeHash: plumbing.NewHash(told.Tree.SHA),
		Message: strings.TrimSuffix(told.Message, "\n") + "\n",
	}
	for _, parent := range told.Parents {
		commit.ParentHashes = append(commit.ParentHashes, plumbing.NewHash(parent.SHA))
		if err := b.getCommit(ctx, plumbing.NewHash(parent.SHA)); err != nil {
			return err
		}
	}
	if err := b.getTree(ctx, commit.TreeHash); err != nil {
		return err
	}
	return b.keep(id, commit.Encode)
}

func (b *bridge) getTree(ctx context.Context, id plumbing.Hash) error {
	if b.has(id) {
		return nil
	}
	var told struct{ Tree []entry }
	if err := b.forge.ask(ctx, "GET", b.path+"/git/trees/"+id.String(), nil, &told); err != nil {
		return err
	}
	var tree object.Tree
	for _, e := range told.Tree {
		mode, err := filemode.New(e.Mode)
		if err != nil {
			return fmt.Errorf("the tree %s: %w", id, err)
		}
		get := b.getBlob
		if mode == filemode.Dir {
			get = b.getTree
		}
		if err := get(ctx, plumbing.NewHash(e.SHA)); err != nil {
			return err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: e.Path, Mode: mode, Hash: plumbing.NewHash(e.SHA)})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	return b.keep(id, tree.Encode)
}

func (b *bridge) getBlob(ctx context.Context, id plumbing.Hash) error {
	if b.has(id) {
		return nil
	}
	var told struct{ Content string }
	if err := b.forge.ask(ctx, "GET", b.path+"/git/blobs/"+id.String(), nil, &told); err != nil {
		return err
	}
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(told.Content, "\n", ""))
	if err != nil {
		return fmt.Errorf("the blob %s: %w", id, err)
	}
	return b.keep(id, func(made plumbing.EncodedObject) error {
		made.SetType(plumbing.BlobObject)
		w, err := made.Writer()
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
}
