package config

import (
	"strings"

	"promoter/internal/image"
	"promoter/internal/schedule"
)

func (l *serverLoader) registries() {
	for _, raw := range l.raw.Registries {
		if !raw.bad {
			l.server.Registries = append(l.server.Registries, l.registry(raw))
		}
	}
}

func (l *serverLoader) registry(raw *rawRegistry) Registry {
	registry := Registry{Position: raw.Position, UsableBy: texts(raw.UsableBy), Insecure: raw.Insecure.Value}
	registry.Host = l.host(raw)
	registry.Repositories = l.registryRepositories(raw, registry.Host)
	if c := raw.Credentials; c != nil && !c.bad {
		l.credentials(c)
		registry.Username = c.Username.Value
		registry.Password = l.reference(c.Password, "credentials.password")
		registry.Token = l.reference(c.Token, "credentials.token")
		registry.TokenHost = l.tokenHost(c)
		registry.Login = l.login(c, registry.Host)
		if c.Provider.set() && raw.Insecure.Value {
			l.failf(raw.Insecure.Position, "remove insecure", "the registries of a cloud speak https")
		}
	}
	l.usableBy(raw)
	registry.Poll = l.poll(raw.Poll)
	l.plainHTTP("the registry "+registry.Host, at[string]{}, raw.Insecure)
	return registry
}

// poll refuses an interval that cannot be held: nothing is read between two polls.
func (l *serverLoader) poll(raw rawPoll) schedule.Times {
	times, ok := raw.times(l.collector)
	if ok && times.Every() > 0 && times.Every() < l.server.Poll {
		l.failf(raw.place.Position, "make it longer, or the server's own poll shorter",
			"a registry is not read more often than every %s, which is the server's poll", schedule.FormatDuration(l.server.Poll))
	}
	return times
}

// host normalizes the name, so that docker.io has one.
func (l *serverLoader) host(raw *rawRegistry) string {
	if !raw.Host.set() {
		l.failf(raw.Position, "add host: HOST", "a registry has no host")
		return ""
	}
	if !raw.Host.ok() {
		return ""
	}
	repository, err := image.ParseRepository(raw.Host.Value + "/any/any")
	if err != nil || strings.Contains(raw.Host.Value, "/") || repository.Path() != "any/any" {
		l.failf(raw.Host.Position, "write the host alone, with its port if it has one", "that is not the host of a registry")
		return ""
	}
	return repository.Host()
}

func (l *serverLoader) registryRepositories(raw *rawRegistry, host string) []image.Pattern {
	var patterns []image.Pattern
	for _, repository := range raw.Repositories.Value {
		if !repository.ok() || host == "" {
			continue
		}
		pattern, err := image.ParsePattern(host + "/" + repository.Value)
		if err != nil {
			l.failf(repository.Position, "write the path without the host; * is one segment, ** many", "%v", err)
			continue
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// credentials checks that there is one of a username with its password, a token, and
// a provider.
func (l *serverLoader) credentials(c *rawCredentials) {
	given := c.Username.set() || c.Password.set()
	switch {
	case c.Provider.set() && (given || c.Token.set()):
		l.failf(c.Provider.Position, "keep the provider, or the token, or username and password", "credentials has a provider and a secret of its own")
	case c.Token.set() && given:
		l.failf(c.Token.Position, "keep the token, or username and password", "credentials has both a token and a password")
	case !c.Provider.set() && !c.Token.set() && !given:
		l.failf(c.Position, "add username and password, token, or provider", "credentials is empty")
	case given && c.Username.set() != c.Password.set():
		l.failf(orPlace(c.Username.place, c.Password.place), "write both", "credentials has only one of username and password")
	}
}

// usableBy checks who may use the credentials: without it nobody may.
func (l *serverLoader) usableBy(raw *rawRegistry) {
	if raw.Credentials != nil && len(raw.UsableBy.Value) == 0 {
		l.failf(raw.Credentials.Position, "add usableBy: [HOST/OWNER/*]", "no repository may use these credentials")
	}
	if raw.Credentials == nil && raw.UsableBy.set() {
		l.failf(raw.UsableBy.Position, "add credentials, or remove usableBy", "usableBy names who may use credentials, but there are none")
	}
	l.repositoryGlobs(raw.UsableBy, "usableBy")
}

// repositoryGlobs checks globs of GitOps repositories.
func (l *serverLoader) repositoryGlobs(globs list, key string) {
	for _, glob := range globs.Value {
		if glob.ok() && (strings.TrimSpace(glob.Value) == "" || strings.ContainsAny(glob.Value, " ?[]{}\\")) {
			l.failf(glob.Position, "write HOST/OWNER/NAME; * is one segment, ** many", "%s: that is no glob of repositories", key)
		}
		if glob.ok() && (glob.Value == "**" || glob.Value == "*") {
			l.warnf(glob.Position, "name the owners", "%s: every repository that promoter ever sees is meant", key)
		}
	}
}
