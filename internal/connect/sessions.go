package connect

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
	"promoter/internal/signin"
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

// SignIn returns the provider of OpenID Connect; nil: the server file names none.
func SignIn(c *Connections, sessions *access.Sessions, log *slog.Logger) (*signin.Provider, error) {
	s := c.Server
	file := s.File.API.OIDC
	if file == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	clientSecret, err := s.Secret(file.ClientSecret)
	if err != nil {
		return nil, fmt.Errorf("api.oidc.clientSecret: %w", err)
	}
	var insecure []string
	if file.Insecure {
		insecure = []string{outbound.Host(file.Mapping.Issuer)}
	}
	client, err := c.NewHTTPClient(ToProvider, insecure, 0)
	if err != nil {
		return nil, err
	}
	return signin.New(signin.Options{
		Sessions: sessions, URL: s.File.URL, ClientSecret: clientSecret, Scopes: file.Scopes, Insecure: file.Insecure,
		HTTP: client, Log: log, Now: s.Now,
	}), nil
}

// SessionKey returns the key of the server file; zero: it names none.
func SessionKey(s *Server) (secret.String, error) {
	reference := s.File.API.SessionKey
	key, err := s.Secret(reference)
	if err != nil {
		return key, fmt.Errorf("api.sessionKey: %w", err)
	}
	if !key.IsZero() && len(key.Reveal()) < access.MinSessionKey {
		return secret.String{}, fault.New(fault.Invalid, "api.sessionKey (%s) is shorter than %d characters: make one with openssl rand -hex 32", reference, access.MinSessionKey)
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
