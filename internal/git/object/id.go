package object

import (
	"encoding/hex"

	"promoter/internal/fault"
)

// ID is the name of an object: the SHA-1 of its kind, size, and content. The zero
// ID names no object.
type ID [20]byte

// ParseID parses the 40 hexadecimal digits of an ID. It rejects abbreviated IDs,
// whose meaning may change with every fetch.
func ParseID(text string) (ID, error) {
	var id ID
	if len(text) != hex.EncodedLen(len(id)) {
		return ID{}, fault.New(fault.Invalid,
			"%.64q is not an object ID: it must have %d hexadecimal digits", text, hex.EncodedLen(len(id)))
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, fault.New(fault.Invalid, "%q is not an object ID: %w", text, err)
	}
	return id, nil
}

// String returns the ID as 40 lowercase hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the ID names no object.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	*id = parsed
	return err
}
