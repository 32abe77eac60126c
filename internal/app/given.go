package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// Given are versions that a person named, by repository. They are taken as they
// are: no registry is asked about them.
type Given map[image.Repository]image.Version

// maxGiven is how many versions may be named; maxGivenLine is the longest line,
// in bytes, of a list of them.
const (
	maxGiven     = 100_000
	maxGivenLine = 4096
)

// ParseGiven reads REPOSITORY[:TAG][@DIGEST] texts. The text "-" stands for the
// lines of list; empty ones and those that start with # are passed over.
func ParseGiven(texts []string, list io.Reader) (Given, error) {
	given := Given{}
	for _, text := range texts {
		var err error
		if text == "-" {
			err = given.addLines(list)
		} else {
			err = given.add(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return given, nil
}

func (g Given) addLines(list io.Reader) error {
	scanner := bufio.NewScanner(list)
	scanner.Buffer(nil, maxGivenLine)
	number := 1
	for ; scanner.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), byteOrderMark))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := g.add(line); err != nil {
			return fmt.Errorf("line %d of the list: %w", number, err)
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fault.New(fault.Invalid, "line %d of the list is longer than %d bytes", number, maxGivenLine)
	} else if err != nil {
		return fault.Wrap(fault.Invalid, fmt.Errorf("read the list of versions: %w", err))
	}
	return nil
}

// byteOrderMark begins what some shells write into a pipe.
const byteOrderMark = "\ufeff"

func (g Given) add(text string) error {
	reference, err := image.Parse(text)
	if err != nil {
		return fault.New(fault.Invalid, "--with %q: %w", text, err)
	}
	if reference.Tag == "" && reference.Digest == "" {
		return fault.New(fault.Invalid, "--with %q names no version: add :TAG, @DIGEST or both", text)
	}
	version := image.Version{Tag: reference.Tag, Digest: reference.Digest}
	if other, twice := g[reference.Repository]; twice && !sameVersion(other, version) {
		return fault.New(fault.Invalid, "--with names two versions of %s", reference.Repository.Familiar())
	}
	if len(g) == maxGiven {
		return fault.New(fault.Invalid, "--with names more than %d versions", maxGiven)
	}
	g[reference.Repository] = version
	return nil
}

func sameVersion(a, b image.Version) bool { return a.Tag == b.Tag && a.Digest == b.Digest }
