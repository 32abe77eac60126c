package object

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// Draft is a commit to be written, as a difference from its parent.
type Draft struct {
	Parent    ID                // zero: the commit has no parent and starts without files
	Write     map[string][]byte // new contents by path; new files are regular, existing ones keep their mode
	Delete    []string          // paths of files; a directory is removed with its last file
	Author    Signature
	Committer Signature
	Message   string // subject and body
	Trailers  Trailers
}

// Write stores the commit with the blobs and trees that it needs, and returns its
// ID. A draft that changes nothing returns its parent.
//
// It fails with Invalid for a commit without a parent and without files, for paths
// that Git would not check out, paths below a file or a symbolic link, and paths
// that are a directory, a symbolic link, or a submodule now. It fails with NotFound
// if a file to be deleted does not exist.
func (s *Store) Write(draft Draft) (ID, error) {
	header, err := draft.header()
	if err != nil {
		return ID{}, err
	}
	changes, err := draft.changes()
	if err != nil {
		return ID{}, err
	}
	old, err := s.treeOf(draft.Parent)
	if err != nil {
		return ID{}, err
	}
	tree, err := s.encoded.rewrite(old, changes, "")
	if err != nil {
		return ID{}, err
	}
	if tree.IsZero() && !old.IsZero() { // the last file was deleted
		if tree, err = s.encoded.write(plumbing.TreeObject, nil); err != nil {
			return ID{}, err
		}
	}
	if tree != old {
		return s.encoded.write(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\n%s", tree, header))
	}
	if draft.Parent.IsZero() {
		return ID{}, fault.New(fault.Invalid, "a first commit needs a file")
	}
	return draft.Parent, nil
}

// header returns what follows the tree in the encoded commit.
func (d Draft) header() (string, error) {
	author, err := d.Author.encode()
	if err != nil {
		return "", fmt.Errorf("the author: %w", err)
	}
	committer, err := d.Committer.encode()
	if err != nil {
		return "", fmt.Errorf("the committer: %w", err)
	}
	message, err := d.Trailers.Message(d.Message)
	if err != nil {
		return "", err
	}
	header := "author " + author + "\ncommitter " + committer + "\n\n" + message
	if d.Parent.IsZero() {
		return header, nil
	}
	return "parent " + d.Parent.String() + "\n" + header, nil
}

// change is what a draft does to one path: it writes or deletes a file, or changes
// files below a directory.
type change struct {
	below   map[string]*change // of a directory, by name
	content []byte             // of a file
	remove  bool
}

// changes arranges the paths of a draft as a tree.
func (d Draft) changes() (*change, error) {
	root := &change{below: map[string]*change{}}
	add := func(path string, file *change) error {
		if err := checkPath(path); err != nil {
			return err
		}
		twice := fault.New(fault.Invalid, "%.200q: a commit cannot change a path twice, or below a file that it changes", path)
		segments := strings.Split(path, "/")
		last := len(segments) - 1
		directory := root
		for _, segment := range segments[:last] {
			next := directory.below[segment]
			if next == nil {
				next = &change{below: map[string]*change{}}
				directory.below[segment] = next
			}
			if next.below == nil {
				return twice
			}
			directory = next
		}
		if directory.below[segments[last]] != nil {
			return twice
		}
		directory.below[segments[last]] = file
		return nil
	}
	for path, content := range d.Write {
		if err := add(path, &change{content: content}); err != nil {
			return nil, err
		}
	}
	for _, path := range d.Delete {
		if err := add(path, &change{remove: true}); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// rewrite stores a tree with the changes applied, and the trees below it, and
// returns its ID: zero if nothing is left in it. The zero tree is a directory that
// does not exist yet. The path of the directory ends with a slash.
func (o encodedObjects) rewrite(tree ID, changes *change, directory string) (ID, error) {
	old, err := o.orderedTree(tree, directory)
	if err != nil {
		return ID{}, err
	}
	var splices []splice
	known := map[string]bool{}
	for !old.ended() {
		if c, name := changes.below[old.entry.name], old.entry.name; c != nil {
			if known[name] {
				return ID{}, fault.New(fault.Invalid, "the directory %s has two entries %s", displayDirectory(directory), display(name))
			}
			known[name] = true
			after, err := o.apply(old.entry, c, directory)
			if err != nil {
				return ID{}, err
			}
			splices = append(splices, splice{old.begin, old.end(), after})
		}
		if err := old.next(); err != nil {
			return ID{}, err
		}
	}
	var added []treeEntry
	for name, c := range changes.below {
		if known[name] {
			continue
		}
		e, err := o.apply(treeEntry{name: name}, c, directory)
		if err != nil {
			return ID{}, err
		}
		added = append(added, e)
	}
	if len(added) > 0 {
		if splices, err = o.withAdded(splices, added, tree, directory); err != nil {
			return ID{}, err
		}
	}
	content := spliced(old.content, splices)
	if len(content) == 0 {
		return ID{}, nil
	}
	return o.write(plumbing.TreeObject, content)
}

// withAdded returns the splices of a tree with those that add entries, in Git's order.
func (o encodedObjects) withAdded(splices []splice, added []treeEntry, tree ID, directory string) ([]splice, error) {
	slices.SortFunc(added, compareEntries)
	old, err := o.orderedTree(tree, directory)
	if err != nil {
		return nil, err
	}
	for _, e := range added {
		for !old.ended() && compareEntries(old.entry, e) < 0 {
			if err := old.next(); err != nil {
				return nil, err
			}
		}
		splices = append(splices, splice{old.begin, old.begin, e})
	}
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	return splices, nil
}

// apply applies a change to an entry, which is of kindNone if it does not exist
// before or after the change.
func (o encodedObjects) apply(e treeEntry, c *change, directory string) (treeEntry, error) {
	name := display(directory + e.name)
	var err error
	switch {
	case c.below != nil:
		if e.kind != kindDirectory && e.kind != kindNone {
			return e, fault.New(fault.Invalid, "%s is not a directory", name)
		}
		if e.kind == kindNone {
			e.mode, e.kind = modeDirectory, kindDirectory
		}
		if e.id, err = o.rewrite(e.id, c, directory+e.name+"/"); e.id.IsZero() {
			e.kind = kindNone
		}
		return e, err
	case e.kind == kindDirectory:
		return e, fault.New(fault.Invalid, "%s is a directory, not a file", name)
	case c.remove && e.kind == kindNone:
		return e, fault.New(fault.NotFound, "there is no file %s to delete", name)
	case c.remove:
		e.kind = kindNone
		return e, nil
	case e.kind == kindNone:
		e.mode, e.kind = modeFile, kindFile
	case e.kind != kindFile:
		return e, fault.New(fault.Invalid, "%s is not a regular file", name)
	}
	if e.id, err = o.write(plumbing.BlobObject, c.content); err != nil {
		return e, fmt.Errorf("write %s: %w", name, err)
	}
	return e, nil
}

// checkPath refuses paths that no commit should have.
func checkPath(path string) error {
	invalid := len(path) > maxPath || strings.Count(path, "/") > maxDepth || strings.Contains(path, "\x00")
	if !invalid {
		for segment := range strings.SplitSeq(path, "/") {
			invalid = invalid || !validName(segment) || isDotGit(segment)
		}
	}
	if invalid {
		return fault.New(fault.Invalid, "%.200q is not a valid path", path)
	}
	return nil
}

// isDotGit reports whether some file system treats the name as .git: one that
// ignores case; one that drops trailing dots, spaces, and what follows a colon; one
// with short names; or one that ignores invisible characters.
func isDotGit(segment string) bool {
	for part := range strings.SplitSeq(segment, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.ToLower(strings.Map(dropIgnored, strings.TrimRight(part, " .")))
		if part == ".git" || part == "git~1" {
			return true
		}
	}
	return false
}

// dropIgnored drops the characters that HFS+ ignores in names.
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
