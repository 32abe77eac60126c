package config

import (
	"regexp"
	"slices"
	"strings"

	"promoter/internal/image"
)

// providers are the hosts of the registries that a provider logs in to, whole or
// as their ends, and the keys that only it has.
var providers = []struct {
	name  Provider
	hosts []string
	keys  []string
	words string
}{
	{
		ProviderAWS,
		[]string{".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".on.aws", ".on.amazonwebservices.com.cn", ".on.amazonwebservices.eu", "public.ecr.aws", "ecr-public.aws.com"},
		[]string{"role"},
		"ACCOUNT.dkr.ecr.REGION.amazonaws.com or public.ecr.aws",
	},
	{ProviderGoogle, []string{".pkg.dev", ".gcr.io", "gcr.io"}, []string{"key"}, "LOCATION-docker.pkg.dev or gcr.io"},
	{ProviderAzure, []string{".azurecr.io", ".azurecr.cn", ".azurecr.us"}, []string{"tenant", "client", "secret"}, "NAME.azurecr.io"},
}

// roleARN is the form of a role's name; the partitions begin with aws.
var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$`)

// login reads the settings of a provider.
func (l *serverLoader) login(c *rawCredentials, host string) Login {
	l.keysOfProviders(c)
	if !c.Provider.ok() {
		return Login{}
	}
	login := Login{
		Provider: Provider(c.Provider.Value), Role: c.Role.Value, Tenant: c.Tenant.Value, Client: c.Client.Value,
		Key: l.reference(c.Key, "credentials.key"), Secret: l.reference(c.Secret, "credentials.secret"),
	}
	for _, p := range providers {
		if p.name == login.Provider && host != "" && !slices.ContainsFunc(p.hosts, func(end string) bool { return endsIn(host, end) }) {
			l.failf(c.Provider.Position, "write "+p.words+" as the host", "provider %s logs in to no registry at %s", p.name, host)
		}
	}
	if c.Role.ok() && !roleARN.MatchString(c.Role.Value) {
		l.failf(c.Role.Position, "write arn:aws:iam::ACCOUNT:role/NAME", "role is not the ARN of a role")
	}
	if c.Secret.set() && !(c.Tenant.set() && c.Client.set()) {
		l.failf(c.Secret.Position, "add tenant and client", "the secret of a client needs its tenant and its client")
	}
	return login
}

// endsIn says that a host is a name, or lies below one that begins with a dot.
func endsIn(host, end string) bool {
	return host == end || strings.HasPrefix(end, ".") && len(host) > len(end) && strings.HasSuffix(host, end)
}

// keysOfProviders refuses keys that another provider has, or that need one.
func (l *serverLoader) keysOfProviders(c *rawCredentials) {
	given := map[string]at[string]{"role": c.Role, "key": c.Key, "tenant": c.Tenant, "client": c.Client, "secret": c.Secret}
	for _, p := range providers {
		for _, key := range p.keys {
			if given[key].set() && (!c.Provider.set() || c.Provider.ok() && Provider(c.Provider.Value) != p.name) {
				l.failf(given[key].Position, "remove it, or write provider: "+string(p.name), "%s is a key of provider %s", key, p.name)
			}
		}
	}
}

// tokenHost reads the host of a token service.
func (l *serverLoader) tokenHost(c *rawCredentials) string {
	if !c.TokenHost.ok() {
		return ""
	}
	if !c.Username.set() {
		l.failf(c.TokenHost.Position, "remove tokenHost", "tokenHost is for a username and a password; no other credential goes to a token service")
	}
	repository, err := image.ParseRepository(c.TokenHost.Value + "/any/any")
	if err != nil || strings.Contains(c.TokenHost.Value, "/") || repository.Path() != "any/any" {
		l.failf(c.TokenHost.Position, "write the host alone", "that is not the host of a token service")
		return ""
	}
	return repository.Host()
}
