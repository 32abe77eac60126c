package state

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Diff returns the files to write so that a branch with the state before has
// the state s. Nil content deletes a file.
func (s State) Diff(before State) map[string][]byte {
	files := map[string][]byte{}
	for target, record := range s.records.all() {
		old, there := before.records.find(target)
		if there && reflect.DeepEqual(old, record) {
			continue
		}
		if !there || !bytes.Equal(marshal(old), marshal(record)) {
			files[target.path()] = record.encode()
		}
	}
	for target := range before.records.all() {
		if _, there := s.records.find(target); !there {
			files[target.path()] = nil
		}
	}
	return files
}

// encode returns the file content for a record. Keys that this release does not
// know, and values that it did not change, are preserved as read.
func (r Record) encode() []byte {
	content := marshal(r)
	if r.source != nil {
		if old, err := known(r.source); err == nil {
			content = keep(content, marshal(old), r.source)
		}
	}
	var out bytes.Buffer
	if json.Indent(&out, content, "", "  ") != nil {
		return content
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n')
}

// marshal returns the known keys of a record as compact JSON. It cannot fail,
// because bound normalizes all times to valid ones.
func marshal(v Record) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // the files are also read by users
	if encoder.Encode(v) != nil {
		return []byte("{}")
	}
	return bytes.TrimSpace(out.Bytes())
}
