package gittest

import (
	"os"
	"path/filepath"
)

// Staged is a file of a new tree. Without a blob it is deleted.
type Staged struct{ Mode, Path, Blob string }

// Stage writes the tree that git makes of another one with these files changed.
func (r *Repository) Stage(tree string, files ...Staged) (string, error) {
	dir, err := os.MkdirTemp(r.dir, "stage-")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	git := func(args ...string) (out string) {
		if err == nil {
			out, err = r.git.tryWith(env, "", r.dir, args...)
		}
		return out
	}
	if tree != "" {
		git("read-tree", tree)
	}
	for _, file := range files {
		if file.Blob == "" {
			git("ls-files", "--error-unmatch", "--", file.Path)
			git("update-index", "--force-remove", "--", file.Path)
			continue
		}
		git("update-index", "--add", "--cacheinfo", file.Mode+","+file.Blob+","+file.Path)
	}
	made := git("write-tree")
	return made, err
}

// Put stores an object as it is encoded, and returns its ID.
func (r *Repository) Put(kind, content string) string {
	id, err := r.git.tryWith(nil, content, r.dir, "hash-object", "-t", kind, "-w", "--stdin")
	check(err)
	return id
}
