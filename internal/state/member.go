package state

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// member is one key of a JSON object with its value, in file order.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object. It returns false if the value is
// not an object or has duplicate keys. Keys that differ only in case are
// duplicates.
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
		var value json.RawMessage
		if err != nil || !text || decoder.Decode(&value) != nil || seen[fold(key)] {
			return nil, false
		}
		seen[fold(key)] = true
		list = append(list, member{key, value})
	}
	return list, true
}

// fold normalizes keys that differ only in case.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }

// find returns the member with the key.
func find(list []member, key string) (member, bool) {
	i := slices.IndexFunc(list, func(m member) bool { return strings.EqualFold(m.key, key) })
	if i < 0 {
		return member{}, false
	}
	return list[i], true
}

// object encodes the members as an object.
func object(list []member) []byte {
	var out bytes.Buffer
	for i, m := range list {
		out.WriteByte("{,"[min(i, 1)])
		key, _ := json.Marshal(m.key) // encoding a string cannot fail
		out.Write(key)
		out.WriteByte(':')
		out.Write(m.value)
	}
	if len(list) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes()
}
