package serverfile

import (
	"fmt"
	"path/filepath"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/secret"
)

// sessionKeyFile is the key of the sessions of browsers that a service makes, in the data
// folder.
const sessionKeyFile = "session.key"

// Sessions returns the sessions of browsers, without a key; nil: the server file has no API.
func Sessions(s *Server) (*access.Sessions, error) {
	file := s.File.API
	if !file.On() {
		return nil, nil //nolint:nilnil // there is none
	}
	tokens, _, err := s.APITokens()
	if err != nil {
		return nil, err
	}
	sessions := &access.Sessions{Tokens: tokens, Now: s.Now}
	if file.Public != nil {
		sessions.Public = access.Principal{Name: "public", Roles: []access.Role{access.Read}, Scope: *file.Public}
	}
	if file.OIDC != nil {
		sessions.OIDC = &file.OIDC.Mapping
	}
	return sessions, nil
}

// SessionKey returns the key of the server file; zero: it names none.
func SessionKey(s *Server) (secret.String, error) {
	reference := s.File.API.SessionKey
	key, err := s.Secret(reference)
	if err != nil {
		return key, fmt.Errorf("api.sessionKey: %w", err)
	}
	if !key.IsZero() && len(key.Reveal()) < access.MinSessionKey {
		return secret.String{}, fault.New(fault.Invalid,
			"api.sessionKey (%s) is shorter than %d characters: make one with openssl rand -hex 32", reference, access.MinSessionKey)
	}
	return key, nil
}

// MakeSessionKey returns the key in the data folder, and makes it if there is none.
func MakeSessionKey(s *Server) (secret.String, error) {
	file := filepath.Join(s.File.Data, sessionKeyFile)
	key, err := readKey(file)
	if err != nil || len(key.Reveal()) >= access.MinSessionKey {
		return key, err
	}
	return makeKey(file)
}
