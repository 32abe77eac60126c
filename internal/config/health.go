package config

import (
	"slices"
	"strings"
)

// ownStatus is the commit status that promoter itself sets. It never counts as a
// check.
const ownStatus = "promoter"

// source is one of the keys of health that say where evidence comes from.
type source struct {
	key string
	place
}

// sources returns the ones that are set, in the order of the documentation.
func (h *rawHealth) sources() []source {
	all := []source{
		{"argocd", h.ArgoCD.place},
		{"flux", h.Flux.place},
		{"check", h.Check.place},
		{"deployment", h.Deployment.place},
		{"api", h.API.place},
	}
	var set []source
	for _, s := range all {
		if s.set() {
			set = append(set, s)
		}
	}
	return set
}

// healthLayer checks what one layer says about health, before it is merged.
func (l *loader) healthLayer(h *rawHealth) {
	if h == nil || h.bad {
		return
	}
	if sources := h.sources(); len(sources) > 1 {
		l.failf(sources[1].Position, "keep one of them", "health has both %s and %s", sources[0].key, sources[1].key)
	}
	l.healthValues(h)
	if h.Timeout.ok() && h.Timeout.Value <= 0 {
		l.failf(h.Timeout.Position, "write how long to wait, as in 20m", "health.timeout is not longer than nothing")
	}
	if h.From.ok() && !ValidName(h.From.Value) {
		l.failf(h.From.Position, "name a receiver of the server's file", "%q cannot be a receiver", h.From.Value)
	}
}

func (l *loader) healthValues(h *rawHealth) {
	if h.ArgoCD.ok() && len(h.ArgoCD.Value) == 0 {
		l.failf(h.ArgoCD.Position, "name at least one Argo CD application", "health.argocd is an empty list")
	}
	for _, value := range slices.Concat(h.ArgoCD.Value, []at[string]{h.Check, h.Deployment}) {
		if value.ok() && strings.TrimSpace(value.Value) == "" {
			l.failf(value.Position, "give it a value", "health has an empty name")
		}
	}
	if h.Flux.ok() && !fluxObject(h.Flux.Value) {
		l.failf(h.Flux.Position, "write KIND/NAMESPACE/NAME, as in kustomization/flux-system/web", "%q names no Flux object", h.Flux.Value)
	}
	if h.API.ok() && !h.API.Value {
		l.failf(h.API.Position, "remove the key api", "health.api is either true or not there")
	}
	if h.Check.Value == ownStatus && h.Check.ok() {
		l.failf(h.Check.Position, "name the status of a deployment", "promoter's own status never counts as health")
	}
	for _, value := range slices.Concat(h.ArgoCD.Value, []at[string]{h.Flux, h.Check, h.Deployment}) {
		l.healthPlaceholder(value)
	}
}

// healthPlaceholder refuses names that would be looked for with the word default
// in them.
func (l *loader) healthPlaceholder(value at[string]) {
	l.placeholders(value, "health", "application", "environment")
	if value.ok() && !l.config.captures && strings.Contains(value.Value, placeholderApplication) {
		l.failf(value.Position, "write {application} into the paths of the environments, or the name here", "nothing captures {application}")
	}
}

// fluxObject says whether s is kind/namespace/name of something that reports
// readiness.
func fluxObject(s string) bool {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return false
	}
	kind := strings.ToLower(parts[0])
	return kind == "kustomization" || kind == "helmrelease"
}

// healthMerged checks what only the merged settings show.
func (l *loader) healthMerged(s *settings) {
	h := s.raw.Health
	if h == nil || h.bad {
		return
	}
	if len(h.sources()) == 0 {
		if h.OnFailure.Value == string(OnFailureRollback) {
			l.failf(h.OnFailure.Position, "add the source of health: argocd, flux, check, deployment or api",
				"onFailure: rollback needs to know the health of %s", s.name)
			return
		}
		l.failf(h.Position, "add one of argocd, flux, check, deployment and api", "health of %s does not say where it is known from", s.name)
	}
	if h.OnFailure.Value == string(OnFailureRollback) && s.raw.Propose.Value == string(ProposeNever) {
		l.failf(h.OnFailure.Position, "remove one of them"+also(s.raw.Propose.place, h.OnFailure.place, "propose"),
			"onFailure: rollback writes, but propose: never says that nothing is written into %s", s.name)
	}
}
