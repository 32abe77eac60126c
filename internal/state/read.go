package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"promoter/internal/fault"
)

// Limits of the branch, far above what promoter writes. One file contains one
// target: in a repository without separate applications, that is every
// component, several times over.
const (
	maxFile  = 1 << 20 // bytes
	maxFiles = 50_000
	maxTotal = 64 << 20 // bytes
)

// Read reads the files of the branch. A file that cannot be read is a Problem
// of its target, see State.Held. A file with a newer schema is an Invalid
// fault, because it might forbid anything: promoter must be upgraded first.
func Read(files iter.Seq2[string, []byte]) (State, error) {
	s := State{records: &table{}, broken: map[Target]Problem{}}
	count, total := 0, 0
	for path, content := range files {
		target, ours := placeOf(path)
		if !ours {
			continue
		}
		count, total = count+1, total+len(content)
		if count > maxFiles || total > maxTotal {
			return State{}, fault.New(fault.Invalid, "%s holds more than %d files or %d MiB", Branch, maxFiles, maxTotal>>20)
		}
		record, err := decode(content)
		if errors.Is(err, errNewer) {
			return State{}, fault.New(fault.Invalid, "%s on %s: %w", path, Branch, err)
		}
		if err != nil {
			s.broken[target] = Problem{Place: target, Reason: err.Error()}
			continue
		}
		s.records.put(target, record)
	}
	return s, nil
}

var (
	errNewer    = fmt.Errorf("its schema is newer than %d: upgrade promoter", Schema)
	errTooLarge = fmt.Errorf("it is larger than %d bytes", maxFile)
	errSchema   = fmt.Errorf("it does not say schema %d", Schema)
	errWith     = fmt.Errorf("it asks for more than %d versions, or for one of more than %d bytes", MaxWith, maxImage)
	errYear     = errors.New("it holds a time outside of the years 0 to 9999")
	errObject   = errors.New("it is no JSON object with every key once")
)

// decode decodes one file.
func decode(content []byte) (Record, error) {
	if len(content) > maxFile {
		return Record{}, errTooLarge
	}
	if err := checkSchema(content); err != nil {
		return Record{}, err
	}
	record, err := known(content)
	if err != nil {
		return Record{}, err
	}
	record.source = content
	record.bound()
	return record, nil
}

// checkSchema checks the schema version first, because another schema may use
// other types for the same keys.
func checkSchema(content []byte) error {
	var head struct {
		Schema int `json:"schema"`
	}
	if _, object := members(content); !object {
		return errObject
	}
	if err := json.Unmarshal(content, &head); err != nil || head.Schema < 1 {
		return errSchema
	}
	if head.Schema > Schema {
		return errNewer
	}
	return nil
}

// known decodes the known keys of a file, with times as written.
func known(content []byte) (Record, error) {
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return Record{}, fmt.Errorf("it cannot be read: %w", err)
	}
	record.source = nil
	if !record.Request.bounded() {
		return Record{}, errWith
	}
	for _, t := range record.times() {
		*t = utc(*t)
		if t.Year() < 0 || t.Year() > 9999 {
			return Record{}, errYear
		}
	}
	return record, nil
}
