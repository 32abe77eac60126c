package image

import (
	"bytes"
	"errors"
)

// MarshalBinary writes the repository for a cache, which is read back by the same
// version of promoter alone.
func (r Repository) MarshalBinary() ([]byte, error) { return []byte(r.host + "\n" + r.path), nil }

// UnmarshalBinary reads what MarshalBinary wrote.
func (r *Repository) UnmarshalBinary(data []byte) error {
	host, path, found := bytes.Cut(data, []byte("\n"))
	if !found {
		return errors.New("not a repository that was kept")
	}
	r.host, r.path = string(host), string(path)
	return nil
}
