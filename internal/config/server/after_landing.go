package serverconfig

import (
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/glob"
	"promoter/internal/strictyaml"
)

// AfterLanding asks a GitOps engine to deploy what landed. Exactly one of ArgoCD and Flux is set.
type AfterLanding struct {
	config.Position
	Scope  // repositories, applications, and environments
	Name   string
	ArgoCD *ArgoCDRequest
	Flux   *FluxRequest
}

// ArgoCDRequest asks an Argo CD server about the Applications that the health of a target names.
type ArgoCDRequest struct {
	Receiver string // whose poll names the server
	Action   ArgoCDAction
}

// ArgoCDAction is what Argo CD does with an Application.
type ArgoCDAction string

// The values of argocd.action.
const (
	ArgoCDRefresh ArgoCDAction = "refresh"
	ArgoCDSync    ArgoCDAction = "sync"
)

// FluxRequest posts to a Receiver of Flux.
type FluxRequest struct {
	URL             string // of the notification controller, without a slash at the end
	Namespace, Name string // of the Receiver
	Token           Reference
	Insecure        bool
}

// AppliesTo reports whether a target of one of its repositories is in its scope.
func (a AfterLanding) AppliesTo(environment, application string) bool {
	return (a.Environments == nil || glob.MatchAnyName(a.Environments, environment)) &&
		(a.Applications == nil || glob.MatchAnyName(a.Applications, application))
}

// rawAfterLanding is a GitOps engine that promoter notifies of landed versions. Set exactly one of argocd and flux.
type rawAfterLanding struct {
	strictyaml.Origin
	// Globs of repositories that may use it: `HOST/OWNER/NAME`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
	// Globs of applications. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments. Default: all.
	Environments strictyaml.List `yaml:"environments"`
	// Argo CD server.
	ArgoCD *rawArgoCDRequest `yaml:"argocd"`
	// Receiver of Flux.
	Flux *rawFluxRequest `yaml:"flux"`
}

// rawArgoCDRequest asks Argo CD to refresh or sync the Applications that `health.argocd` of the environment names.
type rawArgoCDRequest struct {
	strictyaml.Origin
	// Receiver with a `poll`, which names the Argo CD server and the token.
	Receiver strictyaml.Located[string] `yaml:"receiver" required:"true"`
	// Compare the Application with Git again, or also apply it. Default: `refresh`.
	Action strictyaml.Located[string] `yaml:"action" values:"refresh sync"`
}

// rawFluxRequest posts to a Receiver of Flux of type `generic-hmac` or `generic`.
type rawFluxRequest struct {
	strictyaml.Origin `holds:"secrets"`
	// URL of the notification controller, without `/hook/`.
	URL strictyaml.Located[string] `yaml:"url" required:"true"`
	// Receiver, `NAMESPACE/NAME`.
	Receiver strictyaml.Located[string] `yaml:"receiver" required:"true"`
	// Token in the Secret of the Receiver, by reference.
	Token strictyaml.Located[string] `yaml:"token" required:"true"`
	// Allow plain http if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
}

func loadAfterLanding(in *input) (all []AfterLanding) {
	field.CheckNames(in.report, "destination of afterLanding", in.raw.AfterLanding.Keys())
	for _, e := range in.raw.AfterLanding.Entries {
		raw, name := e.Value, e.Key
		if raw.Invalid {
			continue
		}
		required(in.report, raw.Origin, "destination of afterLanding", "repositories", raw.Repositories)
		one := AfterLanding{
			Position: name.Position, Name: name.Value,
			Scope: loadScope(in.report,
				scopeLists{repositories: raw.Repositories, applications: raw.Applications, environments: raw.Environments}),
		}
		switch {
		case raw.ArgoCD != nil && raw.Flux != nil:
			in.report.Errorf(strictyaml.Last(raw.ArgoCD.Origin, raw.Flux.Origin), "keep one of them",
				"afterLanding %s has both argocd and flux", name.Value)
		case raw.ArgoCD == nil && raw.Flux == nil && !raw.HasUnknownKey():
			in.report.Errorf(name.Position, "add argocd or flux", "afterLanding %s has nothing to notify", name.Value)
		}
		one.ArgoCD, one.Flux = loadArgoCDRequest(in, raw.ArgoCD, name.Value), loadFluxRequest(in, raw.Flux, name.Value)
		all = append(all, one)
	}
	return all
}

func loadArgoCDRequest(in *input, raw *rawArgoCDRequest, entry string) *ArgoCDRequest {
	if raw == nil || raw.Invalid {
		return nil
	}
	in.report.ErrorIf(!raw.Receiver.IsSet(), raw.Position, "add receiver: a receiver with a poll",
		"argocd of afterLanding %s has no receiver", entry)
	receiver := raw.Receiver.Value
	if raw.Receiver.Valid() && !in.polls(receiver) {
		in.report.Errorf(raw.Receiver.Position, "name a receiver of kind argocd with poll: {url: …, token: …}",
			"afterLanding %s refers to the receiver %q, which has no poll", entry, receiver)
	}
	in.report.OneOf(&raw.Action, "action", []string{string(ArgoCDRefresh), string(ArgoCDSync)})
	return &ArgoCDRequest{Receiver: receiver, Action: ArgoCDAction(raw.Action.Or(string(ArgoCDRefresh)))}
}

// polls reports whether a receiver of the file polls an Argo CD server.
func (in *input) polls(receiver string) bool {
	for _, e := range in.raw.Receivers.Entries {
		if e.Key.Value == receiver {
			return e.Value.Invalid || e.Value.Poll != nil // the problem of an invalid one is reported
		}
	}
	return false
}

func loadFluxRequest(in *input, raw *rawFluxRequest, entry string) *FluxRequest {
	if raw == nil || raw.Invalid {
		return nil
	}
	flux := &FluxRequest{URL: in.url(raw.URL, "flux.url"), Token: in.reference(raw.Token, "flux.token"), Insecure: raw.Insecure.Value}
	in.report.ErrorIf(!raw.URL.IsSet() || !raw.Receiver.IsSet() || !raw.Token.IsSet(), raw.Position,
		"write url, receiver, and token", "flux of afterLanding %s is not complete", entry)
	in.report.ErrorIf(strings.HasPrefix(flux.URL, "ssh:"), raw.URL.Position, "write https://HOST", "flux.url is not the address of Flux")
	in.checkHTTP("flux of afterLanding "+entry, raw.URL, raw.Insecure)
	var found bool
	flux.Namespace, flux.Name, found = strings.Cut(raw.Receiver.Value, "/")
	if raw.Receiver.Valid() && (!found || flux.Namespace == "" || flux.Name == "" || strings.Contains(flux.Name, "/")) {
		in.report.Errorf(raw.Receiver.Position, "write NAMESPACE/NAME", "%q is not a Receiver of Flux", raw.Receiver.Value)
	}
	return flux
}
