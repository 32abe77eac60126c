package state

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// member is one key of a JSON object with its value, in the order of the file.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object; false for what is none, or for one
// that says a key twice. Two keys that differ in case alone are one.
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

// fold brings keys that differ in case alone to one form.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }

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
	for i, m := range list {
		out.WriteByte("{,"[min(i, 1)])
		key, _ := json.Marshal(m.key) // a string can always be written
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
