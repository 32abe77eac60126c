package serverconfig

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/receiver"
	"promoter/internal/strictyaml"
)

// Receiver accepts the webhooks of one sender.
type Receiver struct {
	config.Position
	Name       string
	Kind       string // of package receiver
	Secret     Reference
	PathSecret Reference
	App        string // the forge whose created App sends them
	Header     string
	Audience   string
	Email      string
	Anonymous  bool
	// Repositories are those that may use its reports about health; nil: all.
	Repositories []string
	// Scope restricts about what a token of the API may report.
	Scope access.Scope
	// Snapshots are the repositories and applications for which it may post snapshots that
	// are promoted; none: its webhooks are only triggers.
	Snapshots []Scope
	Poll      *Poll // nil: only webhooks
}

// Poll reads the API of an Argo CD server.
type Poll struct {
	URL      string // without a slash at the end
	Token    Reference
	Every    time.Duration
	Insecure bool
}

// How often an API is polled: the default, and the most often.
const (
	defaultPollEvery = time.Minute
	minPollEvery     = 10 * time.Second
)

// rawEnginePoll is the API of an Argo CD server.
type rawEnginePoll struct {
	strictyaml.Origin `holds:"secrets"`
	// URL of Argo CD, without `/api`.
	URL strictyaml.Located[string] `yaml:"url" required:"true"`
	// Token of an account that may read the Applications, by reference.
	Token strictyaml.Located[string] `yaml:"token" required:"true"`
	// How often the Applications are read. At least `10s`. Default: `1m`.
	Every strictyaml.Located[time.Duration] `yaml:"every"`
	// Allow plain http if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
}

// DefaultHeader is the header of a secret.
const DefaultHeader = "Authorization"

// rawReceiver is the receiver of the webhooks of one sender. Set exactly one of secret,
// pathSecret, app, audience, and anonymous.
type rawReceiver struct {
	strictyaml.Origin `holds:"secrets"`
	// Sender of the webhooks. See docs/webhooks.md#senders.
	Kind strictyaml.Located[string] `yaml:"kind" required:"true"`
	// Secret that signs the body or is sent in a header, by reference.
	Secret strictyaml.Located[string] `yaml:"secret"`
	// Secret in the URL, `/webhooks/NAME/SECRET`, by reference. At least 32 characters. For `dockerhub`, `quay`, and `gar`.
	PathSecret strictyaml.Located[string] `yaml:"pathSecret"`
	// Name of the forge whose `app.setup` created a GitHub App: use the webhook secret of that App. For `github`.
	App strictyaml.Located[string] `yaml:"app"`
	// Header of the secret, for senders that let you choose it. Default: `Authorization`.
	Header strictyaml.Located[string] `yaml:"header"`
	// Audience of the identity token from Google, for `gar`.
	Audience strictyaml.Located[string] `yaml:"audience"`
	// Email of the service account in the identity token, for `gar`.
	Email strictyaml.Located[string] `yaml:"email"`
	// Accept webhooks without a credential. Each one only triggers a reconciliation, which costs work. Default: `false`.
	Anonymous strictyaml.Located[bool] `yaml:"anonymous"`
	// Globs of repositories that may use its reports about health: `HOST/OWNER/NAME`. For `argocd`, `evidence`, and
	// `flux`. Default: all whose config names the receiver.
	Repositories strictyaml.List `yaml:"repositories"`
	// Argo CD server whose Applications are read besides its webhooks, or without a credential instead of them. For
	// `argocd`. Default: none.
	Poll *rawEnginePoll `yaml:"poll"`
	// Repositories and applications for which the receiver may post snapshots that promoter promotes, for
	// `snapshot` with a `secret`. Default: none, so that its webhooks only trigger reconciliations. See
	// docs/guides/pipeline-snapshots.md.
	Snapshots []*rawSnapshots `yaml:"snapshots"`
}

// rawSnapshots allows a receiver to post snapshots.
type rawSnapshots struct {
	strictyaml.Origin
	// Globs of repositories: `HOST/OWNER/NAME`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
	// Globs of applications. Default: all.
	Applications strictyaml.List `yaml:"applications"`
}

func loadReceivers(in *input) []Receiver {
	field.CheckNames(in.report, "receiver", in.raw.Receivers.Keys())
	var receivers []Receiver
	for _, e := range in.raw.Receivers.Entries {
		raw, name := e.Value, e.Key
		if raw.Invalid {
			continue
		}
		one := Receiver{
			Position: name.Position, Name: name.Value, Kind: raw.Kind.Value,
			Secret: in.reference(raw.Secret, "secret"), PathSecret: in.reference(raw.PathSecret, "pathSecret"),
			App: raw.App.Value, Header: raw.Header.Value, Audience: raw.Audience.Value, Email: raw.Email.Value,
			Anonymous:    raw.Anonymous.Value,
			Repositories: raw.Repositories.Strings(), Poll: loadReceiverPoll(in, raw.Poll, name.Value),
		}
		in.report.ErrorIf(!raw.Kind.IsSet(), name.Position, "add kind: the sender", "the receiver %s has no kind", name.Value)
		if in.report.OneOf(&raw.Kind, "kind", receiver.Names()) {
			kind, _ := receiver.Find(raw.Kind.Value)
			checkReceiverCredential(in.report, name, raw, kind)
			checkReceiverApp(in, name, raw, receivers)
			checkReceiverHealth(in.report, name, raw, kind)
			one.Header = receiverHeader(in.report, raw, kind)
			one.Snapshots = loadSnapshots(in.report, name, raw)
		}
		receivers = append(receivers, one)
	}
	return receivers
}

// loadReporters returns the tokens of the API that may report health as receivers: the config of a
// repository names them like one.
func loadReporters(in *input, tokens []APIToken) (reporters []Receiver) {
	for _, token := range tokens {
		if !slices.Contains(token.Roles, access.Evidence) {
			continue
		}
		for _, other := range in.raw.Receivers.Keys() {
			in.report.ErrorIf(other.Value == token.Name, token.Position, "rename one of them",
				"the token %s with the role evidence has the name of a receiver", token.Name)
		}
		reporters = append(reporters, Receiver{
			Position: token.Position, Name: token.Name, Kind: receiver.Evidence, Secret: token.Token, Header: DefaultHeader,
			Repositories: token.Scope.Repositories, Scope: token.Scope,
		})
	}
	return reporters
}

// MayReport reports whether the receiver may report about an environment, and about one of its
// applications or, if the name is empty, about all of them.
func (r *Receiver) MayReport(environment, application string) bool {
	reporter := access.Principal{Roles: []access.Role{access.Evidence}, Scope: r.Scope}
	return reporter.May(access.Evidence, access.Target{Environment: environment, Application: cmp.Or(application, access.All)})
}

// loadSnapshots returns for what a receiver may post snapshots. Without a secret, any client
// could.
func loadSnapshots(report *strictyaml.Report, name strictyaml.Located[string], raw *rawReceiver) (scopes []Scope) {
	for _, one := range raw.Snapshots {
		if raw.Kind.Value != "snapshot" || !raw.Secret.IsSet() {
			report.Errorf(one.Position, "use kind: snapshot and secret, or remove snapshots",
				"the receiver %s cannot post snapshots", name.Value)
			break
		}
		if required(report, one.Origin, "receiver's snapshots", "repositories", one.Repositories); !one.Invalid {
			scopes = append(scopes, loadScope(report, scopeLists{repositories: one.Repositories, applications: one.Applications}))
		}
	}
	return scopes
}

// checkReceiverCredential requires exactly one credential that the sender supports, or
// an explicit anonymous.
func checkReceiverCredential(report *strictyaml.Report, name strictyaml.Located[string], raw *rawReceiver, kind receiver.Kind) {
	var found []string
	for _, c := range []struct {
		key string
		strictyaml.Origin
	}{
		{receiver.Secret, raw.Secret.Origin},
		{receiver.PathSecret, raw.PathSecret.Origin},
		{receiver.App, raw.App.Origin},
		{receiver.Audience, raw.Audience.Origin},
	} {
		if !c.IsSet() {
			continue
		}
		report.ErrorIf(!slices.Contains(kind.Credentials, c.key), c.Position, "use "+strings.Join(kind.Credentials, " or "),
			"%s does not support %s", kind.Name, c.key)
		if found = append(found, c.key); len(found) == 2 {
			report.Errorf(c.Position, "keep one of them", "the receiver %s has both %s and %s", name.Value, found[0], found[1])
		}
	}
	switch {
	case raw.Anonymous.Value && len(found) > 0:
		report.Errorf(raw.Anonymous.Position, "remove anonymous", "the receiver %s is anonymous and has %s", name.Value, found[0])
	case !raw.Anonymous.Value && len(found) == 0 && raw.Poll == nil:
		report.Errorf(name.Position, "add "+kind.Credentials[0]+", or anonymous: true", "the receiver %s has no credential", name.Value)
	}
	report.ErrorIf(raw.Audience.IsSet() != raw.Email.IsSet(), strictyaml.FirstSet(raw.Audience.Origin, raw.Email.Origin), "write both",
		"the receiver %s has only one of audience and email", name.Value)
}

func loadReceiverPoll(in *input, raw *rawEnginePoll, receiver string) *Poll {
	if raw == nil || raw.Invalid {
		return nil
	}
	poll := &Poll{
		URL: in.url(raw.URL, "poll.url"), Token: in.reference(raw.Token, "poll.token"),
		Every: raw.Every.Or(defaultPollEvery), Insecure: raw.Insecure.Value,
	}
	in.report.ErrorIf(!raw.URL.IsSet() || !raw.Token.IsSet(), raw.Position, "write url and token",
		"poll of the receiver %s is not complete", receiver)
	in.report.ErrorIf(strings.HasPrefix(poll.URL, "ssh:"), raw.URL.Position, "write https://HOST", "poll.url is not the address of Argo CD")
	in.checkHTTP("poll of the receiver "+receiver, raw.URL, raw.Insecure)
	in.report.ErrorIf(poll.Every < minPollEvery, raw.Every.Position, "write 10s or more", "poll.every is %v", poll.Every)
	return poll
}

// argoCD is the kind of receivers that can poll.
const argoCD = "argocd"

// checkReceiverHealth requires a credential where reports about health count, and a kind that
// has some where repositories are named.
func checkReceiverHealth(report *strictyaml.Report, name strictyaml.Located[string], raw *rawReceiver, kind receiver.Kind) {
	report.ErrorIf(kind.Health && raw.Anonymous.Value, raw.Anonymous.Position, "add secret",
		"the receiver %s is anonymous: any sender could report that a version is healthy", name.Value)
	if raw.Poll != nil && kind.Name != argoCD {
		report.Errorf(raw.Poll.Position, "remove poll", "%s has no API to poll", kind.Name)
	}
	switch {
	case raw.Repositories.IsSet() && !kind.Health:
		report.Errorf(raw.Repositories.Position, "remove repositories",
			"%s reports no health, and its webhooks name what changed", kind.Name)
	case raw.Repositories.IsEmpty():
		report.Errorf(raw.Repositories.Position, "name at least one, or remove repositories to apply to all", "repositories is empty")
	}
	checkRepositoryPatterns(report, raw.Repositories, "repositories")
}

// checkReceiverApp requires that the forge whose App sends webhooks has one by setup, and
// that it has one receiver: an App has one webhook.
func checkReceiverApp(in *input, name strictyaml.Located[string], raw *rawReceiver, others []Receiver) {
	if !raw.App.Valid() {
		return
	}
	bySetup := slices.ContainsFunc(in.raw.Forges.Entries, func(e strictyaml.Entry[*rawForge]) bool {
		return e.Key.Value == raw.App.Value && !e.Value.Invalid && e.Value.App != nil && e.Value.App.Setup.IsSet()
	})
	if !bySetup {
		in.report.Errorf(raw.App.Position, "name a forge with app: {setup: ...}, or write secret",
			"the receiver %s refers to the App of the forge %q, which has none by setup", name.Value, raw.App.Value)
		return
	}
	for _, other := range others {
		if other.App == raw.App.Value {
			in.report.Errorf(raw.App.Position, "keep one of them",
				"the receivers %s and %s refer to the App of one forge, which has one webhook", other.Name, name.Value)
			return
		}
	}
}

func receiverHeader(report *strictyaml.Report, raw *rawReceiver, kind receiver.Kind) string {
	outside := func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	switch {
	case !raw.Header.Valid():
		if raw.Secret.IsSet() && kind.CustomHeader {
			return DefaultHeader
		}
	case !kind.CustomHeader:
		report.Errorf(raw.Header.Position, "remove header", "%s has a fixed header", kind.Name)
	case raw.Header.Value == "" || strings.ContainsFunc(raw.Header.Value, outside):
		report.Errorf(raw.Header.Position, "write letters, digits and dashes", "header is not the name of an HTTP header")
	}
	return http.CanonicalHeaderKey(raw.Header.Value)
}
