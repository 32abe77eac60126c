package config

import (
	"strings"
	"time"

	"promoter/internal/glob"
	"promoter/internal/strictyaml"
)

// OnFailure is what happens when a snapshot does not become healthy.
type OnFailure string

// The values of health.onFailure.
const (
	OnFailureStop     OnFailure = "stop"
	OnFailureRollback OnFailure = "rollback"
)

// DefaultHealthTimeout is how long a snapshot may take to become healthy.
const DefaultHealthTimeout = 30 * time.Minute

// Health is the source of health status of an environment. Exactly one of the first
// five fields is set.
type Health struct {
	ArgoCD     []string // patterns of applications
	Flux       string   // kind/namespace/name
	Check      string
	Deployment string
	API        bool

	From      string // receiver in the server file; empty: any
	Timeout   time.Duration
	OnFailure OnFailure
}

// rawHealth has exactly one of argocd, flux, check, deployment, and api.
type rawHealth struct {
	strictyaml.Origin
	// ArgoCD names Argo CD applications, as patterns.
	ArgoCD strictyaml.List `yaml:"argocd"`
	// Flux names a Flux object: KIND/NAMESPACE/NAME.
	Flux strictyaml.Located[string] `yaml:"flux"`
	// Check names a commit status.
	Check strictyaml.Located[string] `yaml:"check"`
	// Deployment names a deployment environment of the forge.
	Deployment strictyaml.Located[string] `yaml:"deployment"`
	// API means that health is reported through promoter's API.
	API strictyaml.Located[bool] `yaml:"api"`
	// From names the only receiver in the server file that may report health.
	From strictyaml.Located[string] `yaml:"from"`
	// Timeout after which a snapshot that is not healthy has failed. Default: 30m.
	Timeout strictyaml.Located[time.Duration] `yaml:"timeout"`
	// OnFailure is what happens then.
	OnFailure strictyaml.Located[string] `yaml:"onFailure" values:"stop rollback"`
}

// healthSource is one of the keys that name the source of health.
type healthSource struct {
	key string
	strictyaml.Origin
}

// sources returns the ones that are present, in the order of the documentation.
func (h *rawHealth) sources() []healthSource {
	var present []healthSource
	for _, s := range []healthSource{
		{"argocd", h.ArgoCD.Origin},
		{"flux", h.Flux.Origin},
		{"check", h.Check.Origin},
		{"deployment", h.Deployment.Origin},
		{"api", h.API.Origin},
	} {
		if s.IsSet() {
			present = append(present, s)
		}
	}
	return present
}

// mergeHealth lets a layer that names a source replace the source of the other: an
// environment has one.
func mergeHealth(base, over *rawHealth) *rawHealth {
	if base != nil && over != nil && len(over.sources()) > 0 {
		withoutSource := *base
		withoutSource.ArgoCD, withoutSource.API = strictyaml.List{}, strictyaml.Located[bool]{}
		withoutSource.Flux, withoutSource.Check, withoutSource.Deployment = strictyaml.Located[string]{}, strictyaml.Located[string]{}, strictyaml.Located[string]{}
		base = &withoutSource
	}
	return strictyaml.Merge(base, over)
}

// checkHealth validates the health of one layer.
func checkHealth(in *input, h *rawHealth) {
	if h == nil || h.Invalid {
		return
	}
	if sources := h.sources(); len(sources) > 1 {
		in.report.Errorf(sources[1].Position, "keep one of them", "health has both %s and %s", sources[0].key, sources[1].key)
	}
	if h.ArgoCD.IsEmpty() {
		in.report.Errorf(h.ArgoCD.Position, "name at least one Argo CD application", "health.argocd is an empty list")
	}
	if h.Flux.Valid() && !validFluxObject(h.Flux.Value) {
		in.report.Errorf(h.Flux.Position, "write KIND/NAMESPACE/NAME, as in kustomization/flux-system/web", "%q is not a Flux object", h.Flux.Value)
	}
	if h.API.Valid() && !h.API.Value {
		in.report.Errorf(h.API.Position, "remove the key api", "health.api is either true or absent")
	}
	if h.Check.Valid() && h.Check.Value == ownStatus {
		in.report.Errorf(h.Check.Position, "name the status of a deployment", "promoter's own status never counts as health")
	}
	for _, value := range append([]strictyaml.Located[string]{h.Flux, h.Check, h.Deployment}, h.ArgoCD.Items...) {
		if value.Valid() && strings.TrimSpace(value.Value) == "" {
			in.report.Errorf(value.Position, "give it a value", "health has an empty name")
		}
		checkPlaceholders(in.report, value, "health", "application", "environment")
		if value.Valid() && !in.captures && strings.Contains(value.Value, glob.Application) {
			in.report.Errorf(value.Position, "write {application} into the paths of the environments, or the name here", "nothing captures {application}")
		}
	}
	if h.Timeout.Valid() && h.Timeout.Value <= 0 {
		in.report.Errorf(h.Timeout.Position, "write how long to wait, as in 20m", "health.timeout must be longer than 0")
	}
	if h.From.Valid() && !ValidName(h.From.Value) {
		in.report.Errorf(h.From.Position, "name a receiver of the server file", "%q is not a valid name of a receiver", h.From.Value)
	}
}

// validFluxObject reports whether s is kind/namespace/name of something that reports
// readiness.
func validFluxObject(s string) bool {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return false
	}
	kind := strings.ToLower(parts[0])
	return kind == "kustomization" || kind == "helmrelease"
}

// checkHealthMerged validates what only merged settings show.
func checkHealthMerged(report *strictyaml.Report, s *settings) {
	h := s.raw.Health
	if h == nil || h.Invalid {
		return
	}
	rollback := h.OnFailure.Value == string(OnFailureRollback)
	switch {
	case len(h.sources()) > 0:
	case rollback:
		report.Errorf(h.OnFailure.Position, "add the source of health: argocd, flux, check, deployment, or api",
			"onFailure: rollback needs to know the health of %s", s.name)
		return
	default:
		report.Errorf(h.Position, "add one of argocd, flux, check, deployment, and api", "health of %s has no source", s.name)
	}
	if rollback && s.raw.Propose.Value == string(ProposeNever) {
		report.Errorf(h.OnFailure.Position, "remove one of them"+also(s.raw.Propose.Origin, h.OnFailure.Origin, "propose"),
			"onFailure: rollback writes, but propose: never forbids writing into %s", s.name)
	}
}

func (h *rawHealth) health() *Health {
	if h == nil {
		return nil
	}
	return &Health{
		ArgoCD: h.ArgoCD.Strings(), Flux: h.Flux.Value, Check: h.Check.Value, Deployment: h.Deployment.Value, API: h.API.Value,
		From: h.From.Value, Timeout: h.Timeout.Or(DefaultHealthTimeout), OnFailure: OnFailure(h.OnFailure.Or(string(OnFailureStop))),
	}
}
