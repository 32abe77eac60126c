package bridge

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// store stores an object from the emulator if its data results in its ID.
func (r repository) store(id plumbing.Hash, encode func(plumbing.EncodedObject) error) error {
	made := r.storer.NewEncodedObject()
	if err := encode(made); err != nil {
		return fmt.Errorf("write %s: %w", id, err)
	}
	if made.Hash() != id {
		return fmt.Errorf("the data of %s from the emulator is %s in Git", id, made.Hash())
	}
	if _, err := r.storer.SetEncodedObject(made); err != nil {
		return fmt.Errorf("write %s: %w", id, err)
	}
	r.shared[id] = true
	return nil
}

func (r repository) has(id plumbing.Hash) bool { return r.storer.HasEncodedObject(id) == nil }

func (r repository) fetchCommit(ctx context.Context, id plumbing.Hash) error {
	if r.has(id) {
		return nil
	}
	var data struct {
		Message           string
		Author, Committer signature
		Tree              sha
		Parents           []sha
	}
	if err := r.emulator.call(ctx, "GET", r.path+"/git/commits/"+id.String(), nil, &data); err != nil {
		return err
	}
	commit := gitobject.Commit{
		Author: data.Author.inGit(), Committer: data.Committer.inGit(), TreeHash: plumbing.NewHash(data.Tree.SHA),
		Message: strings.TrimSuffix(data.Message, "\n") + "\n",
	}
	for _, parent := range data.Parents {
		commit.ParentHashes = append(commit.ParentHashes, plumbing.NewHash(parent.SHA))
		if err := r.fetchCommit(ctx, plumbing.NewHash(parent.SHA)); err != nil {
			return err
		}
	}
	if err := r.fetchTree(ctx, commit.TreeHash); err != nil {
		return err
	}
	return r.store(id, commit.Encode)
}

func (r repository) fetchTree(ctx context.Context, id plumbing.Hash) error {
	if r.has(id) {
		return nil
	}
	var data struct{ Tree []treeEntry }
	if err := r.emulator.call(ctx, "GET", r.path+"/git/trees/"+id.String(), nil, &data); err != nil {
		return err
	}
	var tree gitobject.Tree
	for _, e := range data.Tree {
		mode, err := filemode.New(e.Mode)
		if err != nil {
			return fmt.Errorf("the tree %s: %w", id, err)
		}
		fetch := r.fetchBlob
		if mode == filemode.Dir {
			fetch = r.fetchTree
		}
		if err := fetch(ctx, plumbing.NewHash(e.SHA)); err != nil {
			return err
		}
		tree.Entries = append(tree.Entries, gitobject.TreeEntry{Name: e.Path, Mode: mode, Hash: plumbing.NewHash(e.SHA)})
	}
	sort.Sort(gitobject.TreeEntrySorter(tree.Entries))
	return r.store(id, tree.Encode)
}

func (r repository) fetchBlob(ctx context.Context, id plumbing.Hash) error {
	if r.has(id) {
		return nil
	}
	var data struct{ Content string }
	if err := r.emulator.call(ctx, "GET", r.path+"/git/blobs/"+id.String(), nil, &data); err != nil {
		return err
	}
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(data.Content, "\n", ""))
	if err != nil {
		return fmt.Errorf("the blob %s: %w", id, err)
	}
	return r.store(id, func(made plumbing.EncodedObject) error {
		made.SetType(plumbing.BlobObject)
		w, err := made.Writer()
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
}

// sha is an object reference in the API.
type sha struct{ SHA string }

// upload uploads one object to the emulator, which must compute the same ID as Git.
func (r repository) upload(ctx context.Context, kind string, id plumbing.Hash, fields object) error {
	var created sha
	if err := r.emulator.call(ctx, "POST", r.path+"/git/"+kind, fields, &created); err != nil {
		return err
	}
	if created.SHA != id.String() {
		return fmt.Errorf("the emulator computes the ID %.40q for %s", created.SHA, id)
	}
	r.shared[id] = true
	return nil
}

func (r repository) uploadCommit(ctx context.Context, id plumbing.Hash) error {
	if r.shared[id] {
		return nil
	}
	commit, err := gitobject.GetCommit(r.storer, id)
	if err != nil {
		return fmt.Errorf("read commit %s: %w", id, err)
	}
	parents := []string{}
	for _, parent := range commit.ParentHashes {
		parents = append(parents, parent.String())
		if err := r.uploadCommit(ctx, parent); err != nil {
			return err
		}
	}
	if err := r.uploadTree(ctx, commit.TreeHash); err != nil {
		return err
	}
	return r.upload(ctx, "commits", id, object{
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

func signed(s gitobject.Signature) signature { return signature{s.Name, s.Email, s.When} }

// inGit returns the signature of a Git object, which has no fractions of a
// second.
func (s signature) inGit() gitobject.Signature {
	return gitobject.Signature{Name: s.Name, Email: s.Email, When: s.Date.Truncate(time.Second)}
}

func (r repository) uploadTree(ctx context.Context, id plumbing.Hash) error {
	if r.shared[id] {
		return nil
	}
	tree, err := gitobject.GetTree(r.storer, id)
	if err != nil {
		return fmt.Errorf("read tree %s: %w", id, err)
	}
	entries := []treeEntry{}
	for _, e := range tree.Entries {
		kind, upload := "blob", r.uploadBlob
		if e.Mode == filemode.Dir {
			kind, upload = "tree", r.uploadTree
		}
		if err := upload(ctx, e.Hash); err != nil {
			return err
		}
		entries = append(entries, treeEntry{e.Name, fmt.Sprintf("%06o", uint32(e.Mode)), kind, e.Hash.String()})
	}
	return r.upload(ctx, "trees", id, object{"tree": entries})
}

// treeEntry is one entry of a tree in the API.
type treeEntry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
}

func (r repository) uploadBlob(ctx context.Context, id plumbing.Hash) error {
	if r.shared[id] {
		return nil
	}
	blob, err := gitobject.GetBlob(r.storer, id)
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
	return r.upload(ctx, "blobs", id, object{"content": base64.StdEncoding.EncodeToString(content), "encoding": "base64"})
}
