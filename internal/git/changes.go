package git

import (
	"strings"

	"promoter/internal/fault"
)

// change is what a draft does to one path: a file to be written or deleted, or a
// folder with changes below it.
type change struct {
	below   map[string]*change // of a folder
	content []byte             // of a file
	drop    bool
}

// maxPath is the length in bytes up to which a path is read and written; longer ones
// cannot be checked out.
const maxPath = 4096

// changesOf arranges the paths of a draft as a tree.
func changesOf(draft Draft) (*change, error) {
	root := &change{below: map[string]*change{}}
	for name, content := range draft.Write {
		if err := root.add(name, &change{content: content}); err != nil {
			return nil, err
		}
	}
	for _, name := range draft.Delete {
		if err := root.add(name, &change{drop: true}); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// add puts a file's change into its folder. A path twice, or as a file and as a
// folder, has no one meaning.
func (c *change) add(name string, file *change) error {
	if err := writable(name); err != nil {
		return err
	}
	segments := strings.Split(name, "/")
	folder := c
	for _, segment := range segments[:len(segments)-1] {
		next := folder.below[segment]
		if next == nil {
			next = &change{below: map[string]*change{}}
			folder.below[segment] = next
		}
		if next.below == nil {
			return twice(name)
		}
		folder = next
	}
	last := segments[len(segments)-1]
	if folder.below[last] != nil {
		return twice(name)
	}
	folder.below[last] = file
	return nil
}

func twice(name string) error {
	return fault.New(fault.Invalid, "%.200q: a commit cannot change a path twice, or below a file that it changes", name)
}

// writable refuses paths that no commit should have.
func writable(name string) error {
	if len(name) > maxPath || strings.Count(name, "/") > maxDepth || strings.Contains(name, "\x00") {
		return fault.New(fault.Invalid, "%.200q is no path that a file can have", name)
	}
	for segment := range strings.SplitSeq(name, "/") {
		if !plainName(segment) || dotGit(segment) {
			return fault.New(fault.Invalid, "%.200q is no path that a file can have", name)
		}
	}
	return nil
}

// dotGit reports whether a file system of some computer takes the name for .git:
// one that knows no case, one that drops dots, spaces and what follows a colon at
// the end, one with short names, or one that ignores invisible characters.
func dotGit(segment string) bool {
	for part := range strings.SplitSeq(segment, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.ToLower(strings.Map(visible, strings.TrimRight(part, " .")))
		if part == ".git" || part == "git~1" {
			return true
		}
	}
	return false
}

// visible drops the characters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
