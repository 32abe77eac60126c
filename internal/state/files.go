package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"promoter/internal/fault"
)

// Limits of the branch, far above what promoter writes. One file has one target: in a
// repository without applications, that is every component, several times.
const (
	maxFile  = 1 << 20 // bytes
	maxFiles = 50_000
	maxTotal = 64 << 20 // bytes
)

var (
	errNewer    = fmt.Errorf("its schema is newer than %d: upgrade promoter", Schema)
	errTooLarge = fmt.Errorf("it is larger than %d bytes", maxFile)
	errSchema   = fmt.Errorf("it does not have schema %d", Schema)
	errRequest  = fmt.Errorf("it requests more than %d versions, or one of more than %d bytes", MaxVersions, maxImage)
	errYear     = errors.New("it has a time outside of the years 0 to 9999")
	errObject   = errors.New("it is not a JSON object with unique keys")
)

// Read reads the files of the branch. A file that cannot be read is a Problem of its
// target, see State.Held. A file of a newer schema is an Invalid fault, because it may
// forbid anything: promoter has to be upgraded first.
func Read(files iter.Seq2[string, []byte]) (State, error) {
	s := State{records: &table{}, broken: map[Target]Problem{}}
	count, total := 0, 0
	for path, content := range files {
		target, ok := targetOf(path)
		if !ok {
			continue
		}
		count, total = count+1, total+len(content)
		if count > maxFiles || total > maxTotal {
			return State{}, fault.New(fault.Invalid, "%s has more than %d files or %d MiB", Branch, maxFiles, maxTotal>>20)
		}
		record, err := decode(content)
		switch {
		case errors.Is(err, errNewer):
			return State{}, fault.New(fault.Invalid, "%s on %s: %w", path, Branch, err)
		case err != nil:
			s.broken[target] = Problem{Target: target, Reason: err.Error()}
		default:
			s.records.put(target, record)
		}
	}
	return s, nil
}

// decode reads one file. The schema is checked first: another schema may have other types
// under the same names.
func decode(content []byte) (Record, error) {
	if len(content) > maxFile {
		return Record{}, errTooLarge
	}
	if _, object := members(content); !object {
		return Record{}, errObject
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(content, &head); err != nil || head.Schema < 1 {
		return Record{}, errSchema
	}
	if head.Schema > Schema {
		return Record{}, errNewer
	}
	record, err := decodeKnown(content)
	if err != nil {
		return Record{}, err
	}
	record.source = content
	record.normalize()
	return record, nil
}

// decodeKnown reads the keys of a file that this release knows, with times as they are
// written.
func decodeKnown(content []byte) (Record, error) {
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return Record{}, fmt.Errorf("it is malformed: %w", err)
	}
	record.source = nil
	if !record.withinLimits() {
		return Record{}, errRequest
	}
	var err error
	record.each(func(part any) {
		if t, isTime := part.(*time.Time); isTime {
			*t = utc(*t)
			if t.Year() < 0 || t.Year() > 9999 {
				err = errYear
			}
		}
	})
	return record, err
}

// Diff returns the files to write so that a branch with the state before has s; nil
// content deletes a file.
func (s State) Diff(before State) map[string][]byte {
	files := map[string][]byte{}
	for target, record := range s.records.all() {
		old, exists := before.records.find(target)
		if exists && reflect.DeepEqual(old, record) {
			continue
		}
		if !exists || !bytes.Equal(marshal(old), marshal(record)) {
			files[target.path()] = record.encode()
		}
	}
	for target := range before.records.all() {
		if _, exists := s.records.find(target); !exists {
			files[target.path()] = nil
		}
	}
	return files
}

// Changed returns the targets whose records differ from those of a state before, or to which other decisions apply
// under other names, in no order.
func (s State) Changed(before State) (changed []Target) {
	changed = movedDiffer(s, before)
	for target, record := range s.records.all() {
		if old, exists := before.records.find(target); !exists || !reflect.DeepEqual(old, record) {
			changed = append(changed, target)
		}
	}
	for target := range before.records.all() {
		if _, exists := s.records.find(target); !exists {
			changed = append(changed, target)
		}
	}
	for target, problem := range s.broken {
		if before.broken[target] != problem {
			changed = append(changed, target)
		}
	}
	for target := range before.broken {
		if _, broken := s.broken[target]; !broken {
			changed = append(changed, target)
		}
	}
	return changed
}

// encode returns the file of a record. Fields that this release does not know or did not
// change stay as they were read.
func (r Record) encode() []byte {
	content := marshal(r)
	if r.source != nil {
		if old, err := decodeKnown(r.source); err == nil {
			content = keepUnknownFields(content, marshal(old), r.source)
		}
	}
	var out bytes.Buffer
	if json.Indent(&out, content, "", "  ") != nil {
		return content
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n')
}

// marshal returns the known fields of a record as compact JSON. It cannot fail:
// normalize makes every time one that can be written.
func marshal(v Record) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // users read the files
	if encoder.Encode(v) != nil {
		return []byte("{}")
	}
	return bytes.TrimSpace(out.Bytes())
}
