package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A later release may add keys to schema 1. When this release rewrites a
// record, it preserves them: now is the record to write, then is what this
// release parsed from the file, and raw is the file itself.

// keep merges two records, whose keys are all known, with the file.
func keep(now, then, raw []byte) []byte {
	read, _ := members(raw)
	out := merge(now, then, read)
	for _, m := range read {
		if !knownKey(m.key) {
			out = append(out, m)
		}
	}
	return object(out)
}

// merge returns the members of an object. Unchanged members keep their original
// text from the file.
func merge(now, then []byte, read []member) []member {
	wanted, _ := members(now)
	before, _ := members(then)
	for i, m := range wanted {
		old, was := find(before, m.key)
		file, stands := find(read, m.key)
		if was && stands {
			wanted[i].value = keepValue(m.value, old.value, file.value)
		}
	}
	return wanted
}

// keepValue returns the value of one key.
func keepValue(now, then, raw json.RawMessage) json.RawMessage {
	if bytes.Equal(now, then) {
		return raw
	}
	if list, ok := keepElements(now, then, raw); ok {
		return list
	}
	if !sameAct(now, then) {
		return now
	}
	read, _ := members(raw)
	before, _ := members(then)
	out := merge(now, then, read)
	for _, m := range read {
		_, understood := find(before, m.key)
		if _, written := find(out, m.key); !understood && !written {
			out = append(out, m)
		}
	}
	return object(out)
}

// sameAct reports whether two objects describe the same decision, so that
// unknown keys of the first also apply to the second: a request that was bound
// to a snapshot, and not another one.
func sameAct(a, b json.RawMessage) bool {
	first, isObject := members(a)
	second, _ := members(b)
	by, named := find(first, "by")
	at, dated := find(first, "at")
	otherBy, _ := find(second, "by")
	otherAt, _ := find(second, "at")
	return isObject && named && dated && bytes.Equal(by.value, otherBy.value) && bytes.Equal(at.value, otherAt.value)
}

// keepElements returns a list whose unchanged elements keep their original text
// from the file. It returns false if the value is not a list.
func keepElements(now, then, raw json.RawMessage) (json.RawMessage, bool) {
	var wanted, before, read []json.RawMessage
	if json.Unmarshal(now, &wanted) != nil || json.Unmarshal(then, &before) != nil || json.Unmarshal(raw, &read) != nil {
		return nil, false
	}
	written := make(map[string]json.RawMessage, len(before))
	for i, element := range before[:min(len(before), len(read))] {
		written[string(element)] = read[i]
	}
	for i, element := range wanted {
		if raw, stands := written[string(element)]; stands {
			wanted[i] = raw
		}
	}
	return slices.Concat([]byte("["), bytes.Join(raws(wanted), []byte(",")), []byte("]")), true
}

func raws(list []json.RawMessage) [][]byte {
	out := make([][]byte, 0, len(list))
	for _, element := range list {
		out = append(out, element)
	}
	return out
}

// knownKey reports whether the key is part of schema 1 in this release. Case is
// ignored, as in the JSON library.
func knownKey(key string) bool {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Record]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}
