package setting

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/config/field"
	"promoter/internal/glob"
	"promoter/internal/health"
	"promoter/internal/strictyaml"
)

// Health is where the health of an environment is known from: exactly one source. Nil in
// Environment: it is not monitored.
type Health struct {
	strictyaml.Position
	ArgoCD     []string // globs of Applications, as NAME or NAMESPACE/NAME
	Flux       string   // kind/namespace/name
	Check      string   // context of a commit status, or name of a check
	Deployment string   // environment of deployments of the forge
	From       string   // receiver in the server file whose reports count; empty: the forge
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
	h.Flux = fill(h.Flux)
	h.Check = fill(h.Check)
	h.Deployment = fill(h.Deployment)
	return h
}

// Subjects returns what reports of a receiver are about for a target, with the placeholders
// filled in: globs of Applications, the Flux object, or the target itself.
func (h Health) Subjects(environment, application string) []string {
	switch h = h.For(environment, application); h.Source() {
	case health.ArgoCD:
		return h.ArgoCD
	case health.Flux:
		return []string{h.Flux}
	case health.API:
		return []string{environment, environment + "/" + application}
	}
	return nil
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

// rawHealth is where the health of an environment is known from: exactly one source.
type rawHealth struct {
	strictyaml.Origin
	// Globs of Argo CD Applications, as `NAME` or `NAMESPACE/NAME`. All that match must be healthy. Needs `from`.
	// Placeholders: `{environment}`, `{application}`. See docs/configuration.md#health.
	ArgoCD strictyaml.List `yaml:"argocd"`
	// A Flux object, `KIND/NAMESPACE/NAME`. Without `from`, the commit status that Flux sets for a Kustomization. The same placeholders.
	Flux strictyaml.Located[string] `yaml:"flux"`
	// Context of a commit status, or name of a check, on the landed commit or a later one with the same versions. The same placeholders.
	Check strictyaml.Located[string] `yaml:"check"`
	// Environment of the deployments of the forge, on GitHub and GitLab. The same placeholders.
	Deployment strictyaml.Located[string] `yaml:"deployment"`
	// Reports of `POST /api/v1/evidence`. Needs `from`.
	API strictyaml.Located[bool] `yaml:"api"`
	// Receiver in the server file, whose reports count. No other sender can report for the environment.
	From strictyaml.Located[string] `yaml:"from"`
	// How long a landed snapshot may be degraded, missing, or progressing before it has failed. Default: `15m`.
	Timeout strictyaml.Located[time.Duration] `yaml:"timeout"`
	// What happens when a landed snapshot has failed: nothing more is promoted from it, or the environment also
	// returns to the versions of before, once. Default: `stop`.
	OnFailure strictyaml.Located[string] `yaml:"onFailure" values:"stop rollback"`
}

// sources returns the sources that are set, by key.
func (raw *rawHealth) sources() (keys []string, at []strictyaml.Origin) {
	for _, s := range []struct {
		key string
		strictyaml.Origin
	}{
		{health.ArgoCD, raw.ArgoCD.Origin},
		{health.Flux, raw.Flux.Origin},
		{health.Check, raw.Check.Origin},
		{health.Deployment, raw.Deployment.Origin},
		{health.API, raw.API.Origin},
	} {
		if s.IsSet() {
			keys, at = append(keys, s.key), append(at, s.Origin)
		}
	}
	return keys, at
}

// mergeHealth puts the health of one layer over that of another. A source of another kind
// replaces the one below it, with its receiver.
func mergeHealth(base, over *rawHealth) *rawHealth {
	if base == nil || over == nil {
		return strictyaml.Merge(base, over)
	}
	below, _ := base.sources()
	if above, _ := over.sources(); len(above) > 0 && !slices.Equal(below, above) {
		base = &rawHealth{Origin: base.Origin, Timeout: base.Timeout, OnFailure: base.OnFailure}
	}
	return strictyaml.Merge(base, over)
}

// checkHealth validates the health that one layer sets.
func checkHealth(f *File, raw *rawHealth) {
	if raw == nil || raw.Invalid {
		return
	}
	f.Report.ErrorIf(raw.ArgoCD.IsEmpty(), raw.ArgoCD.Position, "name Applications",
		"health.argocd is an empty list, which matches nothing")
	for _, pattern := range raw.ArgoCD.Items {
		checkHealthName(f, pattern, "health.argocd")
	}
	checkHealthName(f, raw.Flux, "health.flux")
	if parts := strings.Split(raw.Flux.Value, "/"); raw.Flux.Valid() && (len(parts) != 3 || slices.Contains(parts, "")) {
		f.Report.Errorf(raw.Flux.Position, "write kustomization/NAMESPACE/NAME or helmrelease/NAMESPACE/NAME",
			"%q is not a Flux object", raw.Flux.Value)
	}
	checkHealthName(f, raw.Check, "health.check")
	if promoterContext := raw.Check.Value == "promoter" || health.IsContext(raw.Check.Value); raw.Check.Valid() && promoterContext {
		f.Report.Errorf(raw.Check.Position, "name a status that your GitOps engine or pipeline sets",
			"%q is promoter's own status", raw.Check.Value)
	}
	checkHealthName(f, raw.Deployment, "health.deployment")
	f.Report.ErrorIf(raw.API.Valid() && !raw.API.Value, raw.API.Position, "write api: true, or another source", "health.api is false")
	f.Report.ErrorIf(raw.From.Valid() && raw.From.Value == "", raw.From.Position, "name a receiver of the server file",
		"health.from is empty")
	f.Report.ErrorIf(raw.Timeout.Valid() && raw.Timeout.Value <= 0, raw.Timeout.Position,
		"write a duration such as 15m, or remove it", "health.timeout must be more than zero")
}

// checkHealthName validates the name of an object, in which placeholders are allowed.
func checkHealthName(f *File, name strictyaml.Located[string], key string) {
	switch {
	case !name.Valid():
	case name.Value == "":
		f.Report.Errorf(name.Position, "name an object", "%s is empty", key)
	case strings.Contains(name.Value, glob.Application) && !f.Captures:
		f.Report.Errorf(name.Position, "write {application} into the paths of the environments, or the name here",
			"nothing captures {application}")
	default:
		field.CheckPlaceholders(f.Report, name, key, "environment", "application")
	}
}

// checkHealthMerged validates the health as an application has it.
func checkHealthMerged(report *strictyaml.Report, s *environment) {
	raw := s.raw.Health
	if raw == nil || raw.Invalid {
		return
	}
	keys, at := raw.sources()
	switch from := raw.From; {
	case len(keys) == 0 && !raw.HasUnknownKey():
		report.Errorf(raw.Position, "add one of argocd, flux, check, deployment, and api", "health of %s has no source", s.name)
	case len(keys) > 1:
		report.Errorf(strictyaml.Last(at...), "keep one of them",
			"health of %s has more than one source: %s", s.name, strings.Join(keys, ", "))
	case len(keys) == 0:
	case !from.IsSet() && (keys[0] == health.ArgoCD || keys[0] == health.API):
		report.Errorf(at[0].Position, "add from: RECEIVER, a receiver of the server file",
			"health.%s of %s has no from: any sender could report it", keys[0], s.name)
	case !from.IsSet() && strings.HasPrefix(strings.ToLower(raw.Flux.Value), "helmrelease/"):
		report.Errorf(at[0].Position, "add from: RECEIVER, a receiver of the server file",
			"health.flux of %s is a HelmRelease, for which Flux sets no commit status", s.name)
	case from.IsSet() && (keys[0] == health.Check || keys[0] == health.Deployment):
		report.Errorf(from.Position, "remove from", "health.%s of %s is read from the forge, not from a receiver", keys[0], s.name)
	}
	if rollback := raw.OnFailure; rollback.Value == string(OnFailureRollback) && s.raw.Propose.Value == string(ProposeNever) {
		report.Errorf(rollback.Position, "remove onFailure"+also(s.raw.Propose.Origin, rollback.Origin, "propose"),
			"onFailure: rollback of %s has no effect: propose is never", s.name)
	}
}

func (raw *rawHealth) health() *Health {
	if raw == nil {
		return nil
	}
	return &Health{
		Position: raw.Position, ArgoCD: raw.ArgoCD.Strings(), Flux: strings.ToLower(raw.Flux.Value), Check: raw.Check.Value,
		Deployment: raw.Deployment.Value,
		From:       raw.From.Value, Timeout: raw.Timeout.Or(defaultTimeout),
		OnFailure: OnFailure(raw.OnFailure.Or(string(OnFailureStop))),
	}
}
