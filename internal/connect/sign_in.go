package connect

import (
	"fmt"
	"log/slog"

	"promoter/internal/access"
	"promoter/internal/outbound"
	"promoter/internal/signin"
)

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
