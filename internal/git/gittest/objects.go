package gittest

import (
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// store stores what encode writes.
func store(s storer.EncodedObjectStorer, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
	encoded := &plumbing.MemoryObject{}
	if err := encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return s.SetEncodedObject(encoded)
}

// put stores an object.
func put(s storer.EncodedObjectStorer, kind plumbing.ObjectType, content string) (plumbing.Hash, error) {
	return store(s, func(encoded plumbing.EncodedObject) error {
		encoded.SetType(kind)
		out, err := encoded.Writer()
		if err == nil {
			_, err = out.Write([]byte(content))
		}
		return err
	})
}

// withFiles stores a tree with these files changed, by path. The zero hash stands for an
// empty tree.
func withFiles(s storer.EncodedObjectStorer, tree plumbing.Hash, files map[string]string) (plumbing.Hash, error) {
	base := &object.Tree{}
	if !tree.IsZero() {
		var err error
		if base, err = object.GetTree(s, tree); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	entries := map[string]object.TreeEntry{}
	for _, entry := range base.Entries {
		entries[entry.Name] = entry
	}
	directories := map[string]map[string]string{}
	for name, content := range files {
		directory, rest, deep := strings.Cut(name, "/")
		if deep {
			if directories[directory] == nil {
				directories[directory] = map[string]string{}
			}
			directories[directory][rest] = content
			continue
		}
		blob, err := put(s, plumbing.BlobObject, content)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		entries[name] = object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: blob}
	}
	for name, contents := range directories {
		var before plumbing.Hash
		if entry := entries[name]; entry.Mode == filemode.Dir {
			before = entry.Hash
		}
		after, err := withFiles(s, before, contents)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		entries[name] = object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: after}
	}
	made := object.Tree{}
	for _, entry := range entries {
		made.Entries = append(made.Entries, entry)
	}
	sort.Sort(object.TreeEntrySorter(made.Entries))
	return store(s, made.Encode)
}
