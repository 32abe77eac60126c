package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A later release may add keys to schema 1. When this release rewrites such a record, it
// keeps them. In this file, now is the JSON to write, then is what this release understood
// of the file, and raw is the file itself.

// keepUnknownFields merges a record with the file.
func keepUnknownFields(now, then, raw []byte) []byte {
	read, _ := members(raw)
	out := mergeMembers(now, then, read)
	for _, m := range read {
		if !knownKey(m.key) {
			out = append(out, m)
		}
	}
	return object(out)
}

// mergeMembers returns the members of an object, each as written in the file where its
// value did not change.
func mergeMembers(now, then []byte, read []member) []member {
	wanted, _ := members(now)
	before, _ := members(then)
	for i, m := range wanted {
		old, existed := find(before, m.key)
		file, exists := find(read, m.key)
		if existed && exists {
			wanted[i].value = mergeValue(m.value, old.value, file.value)
		}
	}
	return wanted
}

// mergeValue returns the value of one key.
func mergeValue(now, then, raw json.RawMessage) json.RawMessage {
	if bytes.Equal(now, then) {
		return raw
	}
	if list, ok := mergeList(now, then, raw); ok {
		return list
	}
	if !sameAct(now, then) {
		return now
	}
	read, _ := members(raw)
	before, _ := members(then)
	out := mergeMembers(now, then, read)
	for _, m := range read {
		_, understood := find(before, m.key)
		if _, written := find(out, m.key); !understood && !written {
			out = append(out, m)
		}
	}
	return object(out)
}

// sameAct reports whether two objects are the same act, so that unknown fields of the
// first still apply to the second: a request that was bound, not another one.
func sameAct(a, b json.RawMessage) bool {
	first, isObject := members(a)
	second, _ := members(b)
	by, hasUser := find(first, "by")
	at, hasTime := find(first, "at")
	otherBy, _ := find(second, "by")
	otherAt, _ := find(second, "at")
	return isObject && hasUser && hasTime && bytes.Equal(by.value, otherBy.value) && bytes.Equal(at.value, otherAt.value)
}

// mergeList returns a list whose unchanged elements are as written in the file. It returns
// false for what is not a list.
func mergeList(now, then, raw json.RawMessage) (json.RawMessage, bool) {
	var wanted, before, read []json.RawMessage
	if json.Unmarshal(now, &wanted) != nil || json.Unmarshal(then, &before) != nil || json.Unmarshal(raw, &read) != nil {
		return nil, false
	}
	written := make(map[string]json.RawMessage, len(before))
	for i, element := range before[:min(len(before), len(read))] {
		written[string(element)] = read[i]
	}
	elements := make([][]byte, len(wanted))
	for i, element := range wanted {
		elements[i] = element
		if raw, exists := written[string(element)]; exists {
			elements[i] = raw
		}
	}
	return slices.Concat([]byte("["), bytes.Join(elements, []byte(",")), []byte("]")), true
}

// knownKey reports whether a key of a record belongs to schema 1 of this release. The
// library reads keys case-insensitively.
func knownKey(key string) bool {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Record]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}

// member is one key of a JSON object with its value, in the order of the file.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object. It returns false for what is not an object,
// and for one with a duplicate key, where keys that differ only in case are equal.
func members(raw []byte) ([]member, bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') || !json.Valid(raw) {
		return nil, false
	}
	var list []member
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		key, text := token.(string)
		folded := strings.ToLower(strings.ToUpper(key))
		var value json.RawMessage
		if err != nil || !text || decoder.Decode(&value) != nil || seen[folded] {
			return nil, false
		}
		seen[folded] = true
		list = append(list, member{key, value})
	}
	return list, true
}

// find returns the member of a key.
func find(list []member, key string) (member, bool) {
	i := slices.IndexFunc(list, func(m member) bool { return strings.EqualFold(m.key, key) })
	if i < 0 {
		return member{}, false
	}
	return list[i], true
}

// object writes the members as an object.
func object(list []member) []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		key, _ := json.Marshal(m.key) // a string can always be written
		out.Write(key)
		out.WriteByte(':')
		out.Write(m.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}
