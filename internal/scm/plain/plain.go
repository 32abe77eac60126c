// Package plain is the forge that is none: a repository that only Git can reach.
// Everything lands there by push. It never asks anybody: whether the repository
// exists is found out by the first fetch.
package plain

import (
	"context"
	"net/url"
	"strings"

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

// repository has no more than Git. It is all three seams itself.
type repository struct{ info scm.Info }

func (r repository) Info() scm.Info                 { return r.info }
func (repository) Features() scm.Features           { return scm.Features{} }
func (r repository) PullRequests() scm.PullRequests { return pullRequests(r) }
func (r repository) Signals() scm.Signals           { return signals{} }
func (r repository) Conversation() scm.Conversation { return conversation{} }

type pullRequests struct{ info scm.Info }

func (pullRequests) Open(context.Context) ([]scm.PullRequest, error) { return nil, nil }

func (pullRequests) Closed(context.Context, string, int) ([]scm.PullRequest, error) { return nil, nil }

func (p pullRequests) Create(_ context.Context, draft scm.Draft) (scm.PullRequest, error) {
	return scm.PullRequest{}, fault.New(fault.Invalid, "pull request of %s in %s: plain Git has no pull requests, only pushes", draft.Head, p.info.Name)
}

func (p pullRequests) Edit(_ context.Context, number int, _ scm.Edit) error {
	return p.missing(number)
}

func (p pullRequests) Merge(_ context.Context, number int, _ scm.Merge) (scm.Merged, error) {
	return scm.Merged{}, p.missing(number)
}

func (p pullRequests) missing(number int) error {
	return fault.New(fault.NotFound, "pull request %d of %s: plain Git has no pull requests", number, p.info.Name)
}

type signals struct{}

func (signals) Checks(context.Context, string) ([]scm.Check, error)           { return nil, nil }
func (signals) Reviews(context.Context, int) ([]scm.Review, error)            { return nil, nil }
func (signals) SetStatus(context.Context, string, scm.Status) error           { return nil }
func (signals) MayWrite(context.Context, identity.Person) (bool, error)       { return false, nil }
func (signals) Member(context.Context, string, identity.Person) (bool, error) { return false, nil }

type conversation struct{}

func (conversation) Comments(context.Context, int) ([]scm.Comment, error) { return nil, nil }
func (conversation) Say(context.Context, int, string, string) error       { return nil }
