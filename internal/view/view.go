// Package view is what users read of the service: its resources as values, the same for the
// HTTP API and the pages. Each is read from the database, as the last reconciliation of each
// repository left it, and within what the principal may read. Nothing here asks a forge or a
// registry.
package view

import (
	"context"
	"time"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/store"
)

// View reads resources. It is safe for concurrent use.
type View struct {
	Store *store.Store
}

// PullRequest is an open pull request, or the one that brought a landing.
type PullRequest struct {
	Number int       `json:"number"`
	URL    string    `json:"url,omitempty"`
	Opened time.Time `json:"opened,omitzero"`
}

// PullRequestOf returns a pull request; nil if the number is 0.
func PullRequestOf(number int, url string, opened time.Time) *PullRequest {
	if number == 0 {
		return nil
	}
	return &PullRequest{Number: number, URL: url, Opened: opened}
}

// Reason is why something is as it is: a rule for programs, a message for users, and when it
// may change by itself.
type Reason struct {
	Rule    string    `json:"rule,omitempty"`
	Message string    `json:"message"`
	Until   time.Time `json:"until,omitzero"`
}

// ReasonOf returns a reason; nil if nothing is known.
func ReasonOf(rule, message string, until time.Time) *Reason {
	if rule == "" && message == "" {
		return nil
	}
	return &Reason{Rule: rule, Message: message, Until: until}
}

// repositories returns HOST/OWNER/NAME of the repositories that a principal may read and that a
// text names, by key. An empty text does not restrict.
func (v *View) repositories(ctx context.Context, p access.Principal, text string) (map[string]string, error) {
	all, err := v.Store.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(all))
	for _, one := range all {
		if name := one.Address(); p.May(access.Read, access.Target{Repository: name}) && (text == "" || one.IsNamed(text)) {
			names[one.Key] = name
		}
	}
	return names, nil
}

// repository returns the key and the name of the one repository that a text names. Without a
// text, there must be only one.
func (v *View) repository(ctx context.Context, p access.Principal, text string) (key, name string, err error) {
	names, err := v.repositories(ctx, p, text)
	switch {
	case err != nil:
		return "", "", err
	case len(names) == 0:
		return "", "", fault.New(fault.NotFound, "there is no repository %.200q", text)
	case len(names) > 1:
		return "", "", fault.New(fault.Invalid, "%d repositories match: name one as HOST/OWNER/NAME", len(names))
	}
	for key, name = range names {
		break
	}
	return key, name, nil
}
