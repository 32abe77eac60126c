package connect

import (
	"fmt"
	"log/slog"
	"net/http"

	"promoter/internal/access"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/gitopsengine"
	"promoter/internal/outbound"
	"promoter/internal/signin"
)

// ArgoCD returns the Argo CD server that a receiver of the file polls. Without such a receiver,
// or one that polls nothing, its Poll is nil.
func (c *Connections) ArgoCD(name string) (entry serverconfig.Receiver, api gitopsengine.ArgoCD, err error) {
	for _, entry := range c.Server.File.Receivers {
		if entry.Name != name || entry.Poll == nil {
			continue
		}
		token, err := c.Server.Secret(entry.Poll.Token)
		if err != nil {
			return entry, api, fmt.Errorf("receiver %s: %w", name, err)
		}
		return entry, gitopsengine.ArgoCD{URL: entry.Poll.URL, Token: token, HTTP: &http.Client{Transport: c.HTTP.Engines}}, nil
	}
	return entry, api, nil
}

// Flux returns the Receiver of Flux that a destination of afterLanding names.
func (c *Connections) Flux(entry serverconfig.AfterLanding) (gitopsengine.Flux, error) {
	token, err := c.Server.Secret(entry.Flux.Token)
	if err != nil {
		return gitopsengine.Flux{}, fmt.Errorf("afterLanding %s: %w", entry.Name, err)
	}
	return gitopsengine.Flux{
		URL: entry.Flux.URL, Namespace: entry.Flux.Namespace, Name: entry.Flux.Name, Token: token,
		HTTP: &http.Client{Transport: c.HTTP.Engines},
	}, nil
}

// SignIn returns the provider of OpenID Connect; nil: the server file names none.
func SignIn(c *Connections, sessions *access.Sessions, completed signin.Completed, log *slog.Logger) (*signin.Provider, error) {
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
		Sessions: sessions, Completed: completed, URL: s.File.URL, ClientSecret: clientSecret, Scopes: file.Scopes, Insecure: file.Insecure,
		HTTP: client, Log: log, Now: s.Now,
	}), nil
}
