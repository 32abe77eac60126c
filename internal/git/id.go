package git

import (
	"encoding/hex"

	"promoter/internal/fault"
)

// ID is the name of an object: the SHA-1 of its kind, size and content. The zero
// ID names nothing. It is an own type so that no other package needs to know
// which library reads Git.
type ID [20]byte

// ParseID reads the 40 hexadecimal digits of an ID. Short ids are refused: what
// they name may change with every fetch.
func ParseID(text string) (ID, error) {
	var id ID
	if len(text) != hex.EncodedLen(len(id)) {
		return ID{}, fault.New(fault.Invalid, "%.64q is no object id: it must have %d hexadecimal digits", text, hex.EncodedLen(len(id)))
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, fault.New(fault.Invalid, "%q is no object id: %w", text, err)
	}
	return id, nil
}

// String returns the ID as 40 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the ID names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText returns the forty hexadecimal digits.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	*id = parsed
	return err
}
