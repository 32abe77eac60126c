package serverfile

import (
	"fmt"

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
	if len(token.Reveal()) < minToken {
		return secret.String{}, fault.New(fault.Invalid,
			"%s (%s) is shorter than %d characters: make one with openssl rand -hex 32", key, reference, minToken)
	}
	return token, nil
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
