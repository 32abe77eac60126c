package image

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"promoter/internal/fault"
)

// ExplicitVersions are versions that a user named, by repository. No registry is
// asked about them.
type ExplicitVersions map[Repository]Version

const (
	maxExplicitVersions = 100_000
	maxExplicitLine     = 4096 // bytes of one line of a list
	byteOrderMark       = "\ufeff"
)

// ParseExplicitVersions parses REPOSITORY[:TAG][@DIGEST] arguments of --with. The
// argument "-" stands for the lines of list, without empty lines and comments (#).
func ParseExplicitVersions(arguments []string, list io.Reader) (ExplicitVersions, error) {
	versions := ExplicitVersions{}
	for _, argument := range arguments {
		var err error
		if argument == "-" {
			err = versions.addLines(list)
		} else {
			err = versions.add(argument)
		}
		if err != nil {
			return nil, err
		}
	}
	return versions, nil
}

func (v ExplicitVersions) addLines(list io.Reader) error {
	scanner := bufio.NewScanner(list)
	scanner.Buffer(nil, maxExplicitLine)
	number := 1
	for ; scanner.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), byteOrderMark)) // some shells write one into a pipe
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := v.add(line); err != nil {
			return fmt.Errorf("line %d of the list: %w", number, err)
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fault.New(fault.Invalid, "line %d of the list is longer than %d bytes", number, maxExplicitLine)
	} else if err != nil {
		return fault.Wrap(fault.Invalid, fmt.Errorf("read the list of versions: %w", err))
	}
	return nil
}

func (v ExplicitVersions) add(text string) error {
	reference, err := Parse(text)
	if err != nil {
		return fault.New(fault.Invalid, "--with %q: %w", text, err)
	}
	if reference.Tag == "" && reference.Digest == "" {
		return fault.New(fault.Invalid, "--with %q names no version: add :TAG, @DIGEST or both", text)
	}
	version := Version{Tag: reference.Tag, Digest: reference.Digest}
	other, known := v[reference.Repository]
	if known && (other.Tag != version.Tag || other.Digest != version.Digest) {
		return fault.New(fault.Invalid, "--with names two versions of %s", reference.Repository.Familiar())
	}
	if len(v) == maxExplicitVersions {
		return fault.New(fault.Invalid, "--with names more than %d versions", maxExplicitVersions)
	}
	v[reference.Repository] = version
	return nil
}

// Renamed returns the versions with other names of repositories. A version of a repository that
// has one of its own already, or of one without another name, stays.
func (v ExplicitVersions) Renamed(names map[Repository]Repository) ExplicitVersions {
	renamed := maps.Clone(v)
	for from, to := range names {
		version, named := v[from]
		if _, taken := renamed[to]; named && !taken {
			delete(renamed, from)
			renamed[to] = version
		}
	}
	return renamed
}

// Repositories returns the repositories, sorted.
func (v ExplicitVersions) Repositories() []Repository {
	return slices.SortedFunc(maps.Keys(v), func(a, b Repository) int {
		return cmp.Compare(a.String(), b.String())
	})
}
