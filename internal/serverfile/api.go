package serverfile

import (
	"fmt"
	"path/filepath"

	"promoter/internal/access"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/secret"
)

// minToken is the minimum length of a token of the API, in bytes.
const minToken = 32

// APIToken returns the token of the commands of the API; the zero secret if the file has none.
func (s *Server) APIToken() (secret.String, error) {
	if s.File.API.Token.IsZero() {
		return secret.String{}, nil
	}
	return apiToken(s, "api.token", s.File.API.Token)
}

func apiToken(s *Server, key string, reference serverconfig.Reference) (secret.String, error) {
	token, err := s.Secret(reference)
	if err != nil {
		return secret.String{}, fmt.Errorf("%s: %w", key, err)
	}
	return longEnough(token, key, reference, minToken)
}

// longEnough returns a secret of a minimum length, also after its file was replaced.
func longEnough(s secret.String, key string, reference serverconfig.Reference, length int) (secret.String, error) {
	return atLeast(s, key, length, fmt.Sprintf("%s (%s) is shorter than %d characters", key, reference, length))
}

// atLeast returns a secret of a minimum length, also after its file was replaced. Use is what it is used for, and the
// problem what is wrong with a shorter one.
func atLeast(s secret.String, use string, length int, problem string) (secret.String, error) {
	return secret.Checked(s, use, func(s secret.String) error {
		if len(s.Reveal()) < length {
			return fault.New(fault.Invalid, "%s: make one with openssl rand -hex 32", problem)
		}
		return nil
	})
}

// APITokens returns all tokens of the API, and apart from them those of badges. Two names of one
// token are an error: it would be unclear what it may do.
func (s *Server) APITokens() (tokens, badges access.Tokens, err error) {
	names := map[string]string{}
	add := func(into *access.Tokens, key string, reference serverconfig.Reference, principal access.Principal) error {
		value, err := apiToken(s, key, reference)
		if err != nil {
			return err
		}
		if other, twice := names[value.Reveal()]; twice {
			return fault.New(fault.Invalid, "%s is the same as %s: make another one with openssl rand -hex 32", key, other)
		}
		names[value.Reveal()] = key
		*into = append(*into, access.Token{Principal: principal, Secret: value})
		return nil
	}
	if reference := s.File.API.Token; !reference.IsZero() {
		if err := add(&tokens, "api.token", reference,
			access.Principal{Name: "api.token", Token: true, Roles: []access.Role{access.Admin}}); err != nil {
			return nil, nil, err
		}
	}
	for _, one := range s.File.API.Tokens {
		principal := access.Principal{Name: "token " + one.Name, Token: true, Roles: one.Roles, Scope: one.Scope}
		if err := add(&tokens, "api.tokens."+one.Name, one.Token, principal); err != nil {
			return nil, nil, err
		}
	}
	for _, one := range s.File.API.Badges {
		principal := access.Principal{Name: "badge " + one.Name, Roles: one.Roles, Scope: one.Scope}
		if err := add(&badges, "api.badges."+one.Name, one.Token, principal); err != nil {
			return nil, nil, err
		}
	}
	return tokens, badges, nil
}

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
		sessions.Public = access.Principal{Name: access.PublicName, Roles: []access.Role{access.Read}, Scope: *file.Public}
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
	if key.IsZero() {
		return key, nil
	}
	return longEnough(key, "api.sessionKey", reference, access.MinSessionKey)
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
