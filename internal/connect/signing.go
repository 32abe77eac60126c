package connect

import (
	"fmt"

	"promoter/internal/git/signing"
)

// SigningKey returns the key that signs commits; zero: the server file names none.
func (s *Server) SigningKey() (signing.Key, error) {
	named := s.File.Signing
	if named.Key.IsZero() {
		return signing.Key{}, nil
	}
	private, err := s.Secret(named.Key)
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.key: %w", err)
	}
	passphrase, err := s.Secret(named.Passphrase)
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.passphrase: %w", err)
	}
	key, err := signing.Parse(private, passphrase)
	if err == nil {
		_, err = key.Sign(nil, s.Now()) // it may have expired
	}
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.key (%s): %w", named.Key, err)
	}
	return key, nil
}
