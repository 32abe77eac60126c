// Package plain is the forge that is none: a repository that only Git can reach.
// Everything lands there by push. It never asks anybody: whether the repository
// exists is found out by the first fetch.
package plain

import (
	"context"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// Options say where the repositories lie.
type Options struct {
	// Base is the URL below which names are looked up, for instance
	// https://git.example.com/gitops. Empty: every name is a whole URL, or
	// USER@HOST:PATH.
	Base string
}

// Forge opens repositories of plain Git.
type Forge struct{ base string }

// New makes the forge.
func New(options Options) *Forge { return &Forge{base: strings.TrimRight(options.Base, "/")} }

// Open makes the repository of a name, which is a path below the base or a whole
// URL. A URL that no repository can have is Invalid.
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

// withoutCredential drops passwords, and users where they are half of a
// password. The user of ssh is part of the address. The URL is known to parse;
// USER@HOST:PATH has no place for a password and stays.
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

// repository has no more than Git.
type repository struct{ info scm.Info }

// Info is made of the URL alone.
func (r repository) Info() scm.Info { return r.info }

// Features are those of plain Git.
func (repository) Features() scm.Features { return scm.Features{} }

// PullRequests has none.
func (r repository) PullRequests() scm.PullRequests { return pullRequests(r) }

// Signals has none.
func (repository) Signals() scm.Signals { return signals{} }

// Conversation has none.
func (repository) Conversation() scm.Conversation { return conversation{} }

// pullRequests are none, and never will be.
type pullRequests struct{ info scm.Info }

// Open lists none.
func (pullRequests) Open(context.Context) ([]scm.PullRequest, error) { return nil, nil }

// Closed lists none.
func (pullRequests) Closed(context.Context, string, int) ([]scm.PullRequest, error) { return nil, nil }

// Create is Invalid: the config asks for what plain Git has not.
func (p pullRequests) Create(_ context.Context, draft scm.Draft) (scm.PullRequest, error) {
	return scm.PullRequest{}, fault.New(fault.Invalid, "pull request from %s in %s: plain Git has no pull requests, only pushes", draft.Head, p.info.Name)
}

// Edit finds none.
func (p pullRequests) Edit(_ context.Context, number int, _ scm.Edit) error {
	return p.missing(number)
}

// Merge finds none.
func (p pullRequests) Merge(_ context.Context, number int, _ scm.Merge) (scm.Merged, error) {
	return scm.Merged{}, p.missing(number)
}

func (p pullRequests) missing(number int) error {
	return fault.New(fault.NotFound, "pull request %d of %s: plain Git has no pull requests", number, p.info.Name)
}

// signals are none; nobody is known to Git.
type signals struct{}

// Checks lists none.
func (signals) Checks(context.Context, string) ([]scm.Check, error) { return nil, nil }

// Reviews lists none.
func (signals) Reviews(context.Context, int) ([]scm.Review, error) { return nil, nil }

// SetStatus does nothing.
func (signals) SetStatus(context.Context, string, scm.Status) error { return nil }

// Member knows nobody.
func (signals) Member(context.Context, string, identity.User) (bool, error) { return false, nil }

// MayWrite knows nobody.
func (signals) MayWrite(context.Context, identity.User) (bool, error) { return false, nil }

// conversation is silence.
type conversation struct{}

// Comments lists none.
func (conversation) Comments(context.Context, int) ([]scm.Comment, error) { return nil, nil }

// Recent lists none.
func (conversation) Recent(context.Context, time.Time, int) ([]scm.Comment, error) { return nil, nil }

// Say does nothing.
func (conversation) Say(context.Context, int, string, string) error { return nil }

// React does nothing.
func (conversation) React(context.Context, scm.Comment, scm.Reaction) error { return nil }
