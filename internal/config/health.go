package config

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/glob"
	"promoter/internal/health"
)

// Health is where the health of an environment is known from: exactly one source. Nil in
// Environment: it is not monitored.
type Health struct {
	Position
	ArgoCD     []string // globs of Applications, as NAME or NAMESPACE/NAME
	Flux       string   // kind/namespace/name
	Check      string   // context of a commit status, or name of a check
	Deployment string   // environment of deployments of the forge
	API        bool
	From       string // receiver in the server file whose reports count; empty: the forge
	Timeout    time.Duration
	OnFailure  OnFailure
}

// OnFailure is what happens when a landed snapshot failed.
type OnFailure string

// The values of onFailure.
const (
	OnFailureStop     OnFailure = "stop"
	OnFailureRollback OnFailure = "rollback"
)

// defaultTimeout is longer than a usual rollout, also one in steps.
const defaultTimeout = 15 * time.Minute

// Source returns the kind of the source, as in reports.
func (h Health) Source() string {
	switch {
	case len(h.ArgoCD) > 0:
		return health.ArgoCD
	case h.Flux != "":
		return health.Flux
	case h.Check != "":
		return health.Check
	case h.Deployment != "":
		return health.Deployment
	default:
		return health.API
	}
}

// For returns the health of an application: with the placeholders filled in.
func (h Health) For(environment, application string) Health {
	fill := strings.NewReplacer("{environment}", environment, glob.Application, application).Replace
	h.ArgoCD = slices.Clone(h.ArgoCD)
	for i := range h.ArgoCD {
		h.ArgoCD[i] = fill(h.ArgoCD[i])
	}
	h.Flux, h.Check, h.Deployment = fill(h.Flux), fill(h.Check), fill(h.Deployment)
	return h
}

// Matches reports whether a report is from the source that h names, and about an object of a
// target. It says nothing about which versions the report is about.
func (h Health) Matches(r health.Report, environment, application string) bool {
	if h = h.For(environment, application); r.Source != h.Source() || r.Receiver != h.From {
		return false
	}
	switch r.Source {
	case health.ArgoCD:
		return slices.ContainsFunc(h.ArgoCD, func(pattern string) bool {
			name := r.Subject
			if !strings.Contains(pattern, "/") {
				name = name[strings.LastIndex(name, "/")+1:]
			}
			return glob.Match(pattern, name)
		})
	case health.Flux:
		return strings.EqualFold(r.Subject, h.Flux)
	case health.Check:
		return r.Subject == h.Check
	case health.Deployment:
		return r.Subject == h.Deployment
	default:
		return r.Subject == environment || r.Subject == environment+"/"+application
	}
}
