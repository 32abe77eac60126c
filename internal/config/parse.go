package config

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// MaxSize is the largest file that is read, in bytes. A file at this size loads
// in well under a second.
const MaxSize = 1 << 20

// byteOrderMark may open a file; it counts as no column.
var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads the one document of a file. It returns nil after a problem.
func parse(file string, data []byte, problems *collector) *yaml.Node {
	start := Position{File: file, Line: 1, Column: 1}
	if len(data) > MaxSize {
		problems.failf(start, "split the repository or use patterns", "the file is larger than %d bytes", MaxSize)
		return nil
	}
	if i := invalidUTF8(data); i >= 0 {
		problems.failf(positionAt(file, data, i), "save the file as UTF-8", "the file is not UTF-8 text")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		problems.failf(start, "write at least version: 1", "the file is empty")
		return nil
	case err != nil:
		problems.add(syntaxProblem(file, data, err))
		return nil
	}
	if !onlyDocument(decoder, file, data, problems) {
		return nil
	}
	return document.Content[0]
}

// onlyDocument makes sure that nothing follows the first document, so that no
// part of a file is silently ignored.
func onlyDocument(decoder *yaml.Decoder, file string, data []byte, problems *collector) bool {
	var second yaml.Node
	err := decoder.Decode(&second)
	switch {
	case errors.Is(err, io.EOF):
		return true
	case err != nil:
		problems.add(syntaxProblem(file, data, err))
	default:
		at := Position{File: file, Line: second.Line, Column: second.Column}
		problems.failf(at, "keep one document; remove this --- and what follows", "the file holds a second document")
	}
	return false
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// positionAt turns a byte offset into a position.
func positionAt(file string, data []byte, offset int) Position {
	before := data[:min(offset, len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	if line == 1 {
		last = bytes.TrimPrefix(last, byteOrderMark)
	}
	return Position{File: file, Line: line, Column: 1 + utf8.RuneCount(last)}
}
