package serverconfig

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

// Registry is how a registry, or a part of it, is queried.
type Registry struct {
	config.Position
	Host         string
	Repositories []image.Pattern // with the host; nil: all of it
	Username     string
	Password     Reference // with Username
	TokenHost    string    // with Username; empty: one that belongs to the host
	Token        Reference
	Login        Login
	UsableBy     []string // patterns of GitOps repositories
	Insecure     bool
	Poll         schedule.Times // when its tags are read; zero: with each poll
}

// HasCredentials reports whether the entry has a credential.
func (r Registry) HasCredentials() bool {
	return r.Username != "" || !r.Token.IsZero() || r.Login.Provider != ""
}

// Provider issues credentials for the registries of its cloud.
type Provider string

// The providers.
const (
	ProviderAWS    Provider = "aws"
	ProviderGoogle Provider = "google"
	ProviderAzure  Provider = "azure"
)

// Login is a credential that a provider issues. Its zero value is none.
type Login struct {
	Provider Provider
	Role     string    // with aws: the role to assume
	Key      Reference // with google
	Tenant   string    // with azure
	Client   string    // with azure
	Secret   Reference // with azure, of the client
}

// rawRegistry is a registry, or a part of it.
type rawRegistry struct {
	strictyaml.Origin
	// `HOST` or `HOST:PORT`.
	Host strictyaml.Located[string] `yaml:"host" required:"true"`
	// Globs of repositories on the host that the entry applies to. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Credentials for the registry: `username` and `password`, `token`, or `provider`. See
	// docs/registries.md#credentials. Default: none, access is anonymous.
	Credentials *rawCredentials `yaml:"credentials"`
	// Globs of GitOps repositories, `HOST/OWNER/NAME`, that may use the credentials. Required with `credentials`.
	UsableBy strictyaml.List `yaml:"usableBy"`
	// Allow plain http to this host if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
	// How often the service reads the tags: an interval, or a schedule. See docs/configuration.md#polls. Default: the `poll` of the server.
	Poll field.RawPoll `yaml:"poll"`
}

// rawCredentials is a username with a password, a token, or a provider of temporary
// credentials.
type rawCredentials struct {
	strictyaml.Origin `holds:"secrets"`
	// Username that belongs to `password`.
	Username strictyaml.Located[string] `yaml:"username"`
	// Password, by reference.
	Password strictyaml.Located[string] `yaml:"password"`
	// Token, by reference.
	Token strictyaml.Located[string] `yaml:"token"`
	// Host of the token service that may receive the password. Default: one that belongs to the registry by its name.
	TokenHost strictyaml.Located[string] `yaml:"tokenHost"`
	// Cloud that issues temporary credentials. Without further keys, promoter uses the ambient identity of the workload.
	Provider strictyaml.Located[string] `yaml:"provider" values:"aws google azure"`
	// ARN of the role to assume, with `aws`.
	Role strictyaml.Located[string] `yaml:"role"`
	// JSON file of a service account or of a workload identity federation, by reference, with `google`.
	Key strictyaml.Located[string] `yaml:"key"`
	// Tenant in Microsoft Entra ID, with `azure`.
	Tenant strictyaml.Located[string] `yaml:"tenant"`
	// Client ID of an application or a managed identity, with `azure`.
	Client strictyaml.Located[string] `yaml:"client"`
	// Secret of the client, by reference, with `azure`.
	Secret strictyaml.Located[string] `yaml:"secret"`
}

// providers lists the registry hosts of each provider, as names or as suffixes, and the
// keys that only it has.
var providers = []struct {
	name  Provider
	hosts []string
	keys  []string
	hint  string
}{
	{
		ProviderAWS,
		[]string{
			".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".on.aws", ".on.amazonwebservices.com.cn",
			".on.amazonwebservices.eu", "public.ecr.aws", "ecr-public.aws.com",
		},
		[]string{"role"},
		"ACCOUNT.dkr.ecr.REGION.amazonaws.com or public.ecr.aws",
	},
	{ProviderGoogle, []string{".pkg.dev", ".gcr.io", "gcr.io"}, []string{"key"}, "LOCATION-docker.pkg.dev or gcr.io"},
	{ProviderAzure, []string{".azurecr.io", ".azurecr.cn", ".azurecr.us"}, []string{"tenant", "client", "secret"}, "NAME.azurecr.io"},
}

// roleARN is the ARN of a role; the partitions start with aws. The compiled form of a counted
// repetition is as large as its count, and every start of the program pays for it.
var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`)

const maxRoleARN = 2048 // bytes, as of AssumeRole of STS

func loadRegistries(in *input, poll time.Duration) []Registry {
	var registries []Registry
	for _, raw := range in.raw.Registries {
		if !raw.Invalid {
			registries = append(registries, loadRegistry(in, raw, poll))
		}
	}
	return registries
}

func loadRegistry(in *input, raw *rawRegistry, poll time.Duration) Registry {
	registry := Registry{Position: raw.Position, UsableBy: raw.UsableBy.Strings(), Insecure: raw.Insecure.Value}
	switch {
	case !raw.Host.IsSet():
		in.report.Errorf(raw.Position, "add host: HOST", "a registry has no host")
	case raw.Host.Valid():
		if registry.Host = normalizeHost(raw.Host.Value); registry.Host == "" {
			in.report.Errorf(raw.Host.Position, "write only the host, with its port if it has one", "that is not the host of a registry")
		}
	}
	for _, repository := range raw.Repositories.Items {
		if !repository.Valid() || registry.Host == "" {
			continue
		}
		pattern, err := image.ParsePattern(registry.Host + "/" + repository.Value)
		if err != nil {
			in.report.Errorf(repository.Position, "write the path without the host; * is one segment, ** many", "%v", err)
			continue
		}
		registry.Repositories = append(registry.Repositories, pattern)
	}
	if c := raw.Credentials; c != nil && !c.Invalid {
		loadCredentials(in, c, &registry)
		in.report.ErrorIf(c.Provider.IsSet() && raw.Insecure.Value, raw.Insecure.Position, "remove insecure",
			"the registries of a cloud use https")
	}
	if raw.Credentials != nil && len(raw.UsableBy.Items) == 0 {
		in.report.Errorf(raw.Credentials.Position, "add usableBy: [HOST/OWNER/*]", "no repository may use these credentials")
	}
	if raw.Credentials == nil && raw.UsableBy.IsSet() {
		in.report.Errorf(raw.UsableBy.Position, "add credentials, or remove usableBy", "usableBy restricts credentials, but there are none")
	}
	checkRepositoryPatterns(in.report, raw.UsableBy, "usableBy")
	var ok bool
	if registry.Poll, ok = raw.Poll.Times(in.report); ok && registry.Poll.Every() > 0 && registry.Poll.Every() < poll {
		in.report.Errorf(raw.Poll.Position, "make it longer, or the server's own poll shorter",
			"a registry is not read more often than every %s, which is the server's poll", schedule.FormatDuration(poll))
	}
	in.checkHTTP("the registry "+registry.Host, strictyaml.Located[string]{}, raw.Insecure)
	return registry
}

// normalizeHost returns the canonical name of a registry host, so that docker.io has
// one, and "" for what is not a host.
func normalizeHost(host string) string {
	repository, err := image.ParseRepository(host + "/any/any")
	if err != nil || strings.Contains(host, "/") || repository.Path() != "any/any" {
		return ""
	}
	return repository.Host()
}

// loadCredentials requires one of a username with its password, a token, and a provider.
func loadCredentials(in *input, c *rawCredentials, registry *Registry) {
	password := c.Username.IsSet() || c.Password.IsSet()
	switch {
	case c.Provider.IsSet() && (password || c.Token.IsSet()):
		in.report.Errorf(c.Provider.Position, "keep the provider, or the token, or username and password",
			"credentials has both a provider and a secret")
	case c.Token.IsSet() && password:
		in.report.Errorf(c.Token.Position, "keep the token, or username and password", "credentials has both a token and a password")
	case !c.Provider.IsSet() && !c.Token.IsSet() && !password:
		in.report.Errorf(c.Position, "add username and password, token, or provider", "credentials is empty")
	case password && c.Username.IsSet() != c.Password.IsSet():
		in.report.Errorf(strictyaml.FirstSet(c.Username.Origin, c.Password.Origin), "write both",
			"credentials has only one of username and password")
	}
	registry.Username = c.Username.Value
	registry.Password = in.reference(c.Password, "credentials.password")
	registry.Token = in.reference(c.Token, "credentials.token")
	if c.TokenHost.Valid() {
		in.report.ErrorIf(!c.Username.IsSet(), c.TokenHost.Position, "remove tokenHost",
			"tokenHost is for a username and a password; no other credential is sent to a token service")
		if registry.TokenHost = normalizeHost(c.TokenHost.Value); registry.TokenHost == "" {
			in.report.Errorf(c.TokenHost.Position, "write only the host", "that is not the host of a token service")
		}
	}
	registry.Login = loadLogin(in, c, registry.Host)
}

func loadLogin(in *input, c *rawCredentials, host string) Login {
	keys := map[string]strictyaml.Located[string]{"role": c.Role, "key": c.Key, "tenant": c.Tenant, "client": c.Client, "secret": c.Secret}
	for _, p := range providers {
		for _, key := range p.keys {
			if keys[key].IsSet() && (!c.Provider.IsSet() || c.Provider.Valid() && Provider(c.Provider.Value) != p.name) {
				in.report.Errorf(keys[key].Position, "remove it, or write provider: "+string(p.name),
					"%s is a key of provider %s", key, p.name)
			}
		}
	}
	if !c.Provider.Valid() {
		return Login{}
	}
	login := Login{
		Provider: Provider(c.Provider.Value), Role: c.Role.Value, Tenant: c.Tenant.Value, Client: c.Client.Value,
		Key: in.reference(c.Key, "credentials.key"), Secret: in.reference(c.Secret, "credentials.secret"),
	}
	for _, p := range providers {
		belongs := func(name string) bool {
			return host == name || strings.HasPrefix(name, ".") && len(host) > len(name) && strings.HasSuffix(host, name)
		}
		if p.name == login.Provider && host != "" && !slices.ContainsFunc(p.hosts, belongs) {
			in.report.Errorf(c.Provider.Position, "write "+p.hint+" as the host", "provider %s has no registry at %s", p.name, host)
		}
	}
	if c.Role.Valid() && (len(c.Role.Value) > maxRoleARN || !roleARN.MatchString(c.Role.Value)) {
		in.report.Errorf(c.Role.Position, "write arn:aws:iam::ACCOUNT:role/NAME", "role is not the ARN of a role")
	}
	in.report.ErrorIf(c.Secret.IsSet() && !(c.Tenant.IsSet() && c.Client.IsSet()), c.Secret.Position, "add tenant and client",
		"the secret of a client needs its tenant and its client")
	return login
}

// Covers reports whether the entry is about an image.
func (r Registry) Covers(asked image.Repository) bool {
	return r.Host == asked.Host() && (len(r.Repositories) == 0 ||
		slices.ContainsFunc(r.Repositories, func(p image.Pattern) bool { return p.Match(asked) }))
}
