package rendered

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// request is what a child process renders: the roots, and the files that they consist of.
type request struct {
	Memory int64 // that the child may use, in bytes
	Roots  []Root
	Before map[string][]byte
	After  map[string][]byte // only those that differ
}

// heading begins a written request. The files follow one by one, so that their encoded text is never
// in memory as a whole.
type heading struct {
	Memory int64  `json:"memory"`
	Roots  []Root `json:"roots"`
	Before int    `json:"before"` // how many files of Before follow
	After  int    `json:"after"`  // and then of After
}

type requestFile struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
}

// writeTo writes a request as a child process reads it. The same request is the same text.
func (r request) writeTo(w io.Writer) error {
	encoder := json.NewEncoder(w)
	if err := encoder.Encode(heading{Memory: r.Memory, Roots: r.Roots, Before: len(r.Before), After: len(r.After)}); err != nil {
		return err
	}
	for _, files := range []map[string][]byte{r.Before, r.After} {
		for _, path := range slices.Sorted(maps.Keys(files)) {
			if err := encoder.Encode(requestFile{Path: path, Content: files[path]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRequest reads what writeTo wrote.
func readRequest(from io.Reader) (request, error) {
	decoder := json.NewDecoder(from)
	var h heading
	if err := decoder.Decode(&h); err != nil {
		return request{}, err
	}
	r := request{Memory: h.Memory, Roots: h.Roots, Before: map[string][]byte{}, After: map[string][]byte{}}
	for i := range h.Before + h.After {
		var file requestFile
		if err := decoder.Decode(&file); err != nil {
			return request{}, fmt.Errorf("file %d: %w", i+1, err)
		}
		if i < h.Before {
			r.Before[file.Path] = file.Content
		} else {
			r.After[file.Path] = file.Content
		}
	}
	return r, nil
}
