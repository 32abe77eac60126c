// Package plain implements scm for repositories that only Git can access, without a
// forge API. All changes are pushed. It sends no requests: whether a repository
// exists is found out by the first fetch.
package plain

import (
	"context"
	"net/url"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Options specifies where the repositories are.
type Options struct {
	// Base is the URL below which names are resolved, for instance
	// https://git.example.com/gitops. Empty: every name is a full URL, or
	// USER@HOST:PATH.
	Base string
}

// Forge opens repositories of plain Git.
type Forge struct{ base string }

// New returns a Forge.
func New(options Options) *Forge { return &Forge{base: strings.TrimRight(options.Base, "/")} }

// Open returns the repository of a name, which is a path below the base or a full
// URL. An unsupported URL is Invalid.
func (f *Forge) Open(_ context.Context, name string) (scm.Repository, error) {
	address := f.address(name)
	key, err := identity.GitKey(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "repository of plain Git: %w", err)
	}
	return repository{info: scm.Info{Key: key, Name: name, CloneURL: withoutCredential(address), MayPush: true}}, nil
}

func (f *Forge) address(name string) string {
	if f.base == "" {
		return name
	}
	return f.base + "/" + strings.TrimLeft(name, "/")
}

// withoutCredential removes passwords, and users where they are part of a credential.
// The user of ssh is part of the address. The URL is known to parse; USER@HOST:PATH
// has no password and is kept.
func withoutCredential(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.User == nil {
		return address
	}
	user := parsed.User.Username()
	parsed.User = nil
	if parsed.Scheme == "ssh" && user != "" {
		parsed.User = url.User(user)
	}
	return parsed.String()
}

// repository is a plain Git repository.
type repository struct{ info scm.Info }

// Info is derived from the URL alone.
func (r repository) Info() scm.Info { return r.info }

// Features are those of plain Git.
func (repository) Features() scm.Features { return scm.Features{} }

// PullRequests returns an implementation without pull requests.
func (r repository) PullRequests() scm.PullRequests {
	return rest.NoPulls{Repository: r.info.Name, Reason: "plain Git has no pull requests, only pushes"}
}

// Signals returns an implementation without checks and reviews.
func (repository) Signals() scm.Signals { return signals{} }

// Conversation returns an implementation without comments.
func (repository) Conversation() scm.Conversation { return rest.NoConversation{} }

// signals is always empty; plain Git has no users.
type signals struct{}

// Checks returns an empty list.
func (signals) Checks(context.Context, string) ([]scm.Check, error) { return nil, nil }

// Reviews returns an empty list.
func (signals) Reviews(context.Context, int) ([]scm.Review, error) { return nil, nil }

// SetStatus does nothing.
func (signals) SetStatus(context.Context, string, scm.Status) error { return nil }

// Member returns false.
func (signals) Member(context.Context, string, identity.User) (bool, error) { return false, nil }

// MayWrite returns false.
func (signals) MayWrite(context.Context, identity.User) (bool, error) { return false, nil }
