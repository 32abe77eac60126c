package serverfile

import (
	"fmt"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/git/signing"
)

// SignsAsApp reports whether GitHub makes and signs the commits of repositories on a forge.
func (s *Server) SignsAsApp(forge serverconfig.Forge) bool {
	return s.File.Signing.GitHubApp && forge.App != nil
}

// SignsCommits reports whether the commits of repositories on a forge are signed.
func (s *Server) SignsCommits(forge serverconfig.Forge) bool {
	return s.SignsAsApp(forge) || !s.File.Signing.Key.IsZero()
}

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
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.key (%s): %w", named.Key, err)
	}
	if _, err := key.Sign(nil, s.Now()); err != nil { // it may have expired
		return signing.Key{}, fmt.Errorf("signing.key (%s): %w", named.Key, err)
	}
	return key, nil
}
