package config

import (
	"errors"
	"strings"
)

// placeholderApplication stands in a path for one segment, or a part of one,
// that names the application.
const placeholderApplication = "{application}"

// anySegments stands in a path for any number of segments, also none.
const anySegments = "**"

// pathGlob is a compiled glob of files: segments in which * stands for anything
// but a slash, ** for any number of segments, and {application} for the name of
// the application. It matches a file that it leads to, and every file below a
// folder that it leads to.
type pathGlob struct {
	text     string
	segments []segmentGlob
	blocks   [][]segmentGlob // the segments between **; the first block stands at the start of the path
	captures bool
}

// segmentGlob is one segment of a glob.
type segmentGlob struct {
	any     bool   // **
	literal string // the whole segment, when it has neither a wildcard nor a placeholder
	// parts are the literal pieces between wildcards. A placeholder is a wildcard
	// here, the only one of its segment.
	parts    []string
	captures bool
}

// Limits of one glob. Comparing two globs takes the product of their segments.
const (
	maxGlob     = 1024 // bytes
	maxSegments = 64
)

var (
	errGlobLong        = errors.New("the path is too long")
	errGlobEmpty       = errors.New("the path is empty")
	errGlobAbsolute    = errors.New("the path begins with a slash")
	errGlobDots        = errors.New("the path holds . or .. as a segment")
	errGlobSlashes     = errors.New("the path holds an empty segment")
	errGlobStars       = errors.New("** does not stand alone between slashes")
	errGlobForeign     = errors.New("only * and ** are wildcards")
	errGlobPlaceholder = errors.New("the only placeholder of a path is {application}")
	errGlobTwice       = errors.New("{application} stands twice in one path")
	errGlobMixed       = errors.New("{application} and * stand in one segment, so what it captures is not certain")
)

// globHints says what to do about each error.
var globHints = map[error]string{
	errGlobLong:        `write at most 1024 bytes and 64 segments`,
	errGlobEmpty:       `leave paths out for the whole tree`,
	errGlobAbsolute:    `paths begin at the root of the branch: remove the slash`,
	errGlobDots:        `write the path from the root of the branch`,
	errGlobSlashes:     `remove the doubled slash`,
	errGlobStars:       `write a/**/b`,
	errGlobForeign:     `write * for any part of a segment`,
	errGlobPlaceholder: `write {application}, or list the paths one by one`,
	errGlobTwice:       `keep the first {application} and write * for the other`,
	errGlobMixed:       `keep {application} with literal text around it`,
}

// compileGlob reads a glob of paths. A slash at the end is allowed.
func compileGlob(text string) (pathGlob, error) {
	glob := pathGlob{text: text}
	trimmed := strings.TrimSuffix(text, "/")
	switch {
	case len(text) > maxGlob || strings.Count(text, "/") >= maxSegments:
		return glob, errGlobLong
	case text == "":
		return glob, errGlobEmpty
	case strings.HasPrefix(text, "/"):
		return glob, errGlobAbsolute
	}
	for text := range strings.SplitSeq(trimmed, "/") {
		segment, err := compileSegment(text)
		if err != nil {
			return glob, err
		}
		if segment.captures && glob.captures {
			return glob, errGlobTwice
		}
		glob.captures = glob.captures || segment.captures
		if doubled := segment.any && len(glob.segments) > 0 && glob.segments[len(glob.segments)-1].any; !doubled {
			glob.segments = append(glob.segments, segment)
		}
	}
	glob.blocks = blocksOf(glob.segments)
	return glob, nil
}

func blocksOf(segments []segmentGlob) [][]segmentGlob {
	blocks := [][]segmentGlob{nil}
	for _, segment := range segments {
		if segment.any {
			blocks = append(blocks, nil)
			continue
		}
		last := len(blocks) - 1
		blocks[last] = append(blocks[last], segment)
	}
	return blocks
}

func compileSegment(text string) (segmentGlob, error) {
	bare := strings.ReplaceAll(text, placeholderApplication, "")
	switch {
	case text == "":
		return segmentGlob{}, errGlobSlashes
	case text == "." || text == "..":
		return segmentGlob{}, errGlobDots
	case text == anySegments:
		return segmentGlob{any: true}, nil
	case strings.Contains(text, anySegments):
		return segmentGlob{}, errGlobStars
	case strings.ContainsAny(bare, "{}"):
		return segmentGlob{}, errGlobPlaceholder
	case strings.ContainsAny(bare, `?[]\`):
		return segmentGlob{}, errGlobForeign
	}
	return splitSegment(text)
}

func splitSegment(text string) (segmentGlob, error) {
	switch strings.Count(text, placeholderApplication) {
	case 0:
		if !strings.Contains(text, "*") {
			return segmentGlob{literal: text}, nil
		}
		return segmentGlob{parts: strings.Split(text, "*")}, nil
	case 1:
		if strings.Contains(text, "*") {
			return segmentGlob{}, errGlobMixed
		}
		return segmentGlob{parts: strings.Split(text, placeholderApplication), captures: true}, nil
	default:
		return segmentGlob{}, errGlobTwice
	}
}

// match says whether the glob leads to path or to a folder above it, and what
// {application} stands for. Where ** leaves a choice it takes the fewest
// segments; a later one never needs another choice, because a glob may end
// anywhere in a path, so no input makes it try twice.
func (g *pathGlob) match(path string) (application string, ok bool) {
	w := walk{rest: path, more: true}
	if !w.follow(g.blocks[0]) {
		return "", false
	}
	for _, block := range g.blocks[1:] {
		if !w.find(block) {
			return "", false
		}
	}
	return w.application, true
}

// walk is a place in a path.
type walk struct {
	rest        string
	more        bool // there is a segment in rest
	application string
}

// follow takes one segment of the path for each of the block; it moves only when
// all fit.
func (w *walk) follow(block []segmentGlob) bool {
	next := *w
	for i := range block {
		if !next.more {
			return false
		}
		captured, fits := block[i].match(next.segment())
		if !fits {
			return false
		}
		if block[i].captures {
			next.application = captured
		}
	}
	*w = next
	return true
}

// find follows a block that stands behind ** at the first segment where it fits.
// The empty block, behind ** at the end, wants at least one segment: a/** is
// what is below a, not a itself.
func (w *walk) find(block []segmentGlob) bool {
	for w.more {
		if w.follow(block) {
			return true
		}
		w.segment()
	}
	return false
}

// segment takes the next segment.
func (w *walk) segment() (head string) {
	head, w.rest, w.more = strings.Cut(w.rest, "/")
	return head
}

// match says whether a segment fits, and what its placeholder stands for.
func (s *segmentGlob) match(text string) (captured string, ok bool) {
	if s.parts == nil {
		return "", text == s.literal
	}
	first, last := s.parts[0], s.parts[len(s.parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return "", false
	}
	middle := text[len(first) : len(text)-len(last)]
	if s.captures {
		return middle, middle != ""
	}
	for _, part := range s.parts[1 : len(s.parts)-1] {
		i := strings.Index(middle, part)
		if i < 0 {
			return "", false
		}
		middle = middle[i+len(part):]
	}
	return "", true
}
