package config

import (
	"net/url"
	"slices"
	"strings"
)

// forgeURLs are the servers of kinds that have a public one.
func forgeURL(kind ForgeKind) string {
	switch kind {
	case ForgeGitHub:
		return "https://github.com"
	case ForgeGitLab:
		return "https://gitlab.com"
	default:
		return ""
	}
}

func (l *serverLoader) forges() {
	l.validNames("forge", l.raw.Forges.names())
	for _, e := range l.raw.Forges.Entries {
		if !e.Value.bad {
			l.server.Forges = append(l.server.Forges, l.forge(e.Key, e.Value))
		}
	}
}

func (l *serverLoader) forge(name at[string], raw *rawForge) Forge {
	forge := Forge{
		Position: name.Position, Name: name.Value, Kind: ForgeKind(raw.Kind.Value),
		URL: l.url(raw.URL, "forges."+name.Value+".url"), Username: raw.Username.Value, Insecure: raw.Insecure.Value,
		Token:      l.reference(raw.Token, "token"),
		Password:   l.reference(raw.Password, "password"),
		SSHKey:     l.reference(raw.SSHKey, "sshKey"),
		KnownHosts: l.reference(raw.KnownHosts, "knownHosts"),
	}
	if !raw.URL.set() {
		forge.URL = forgeURL(forge.Kind)
	}
	if !raw.Kind.set() {
		l.failf(name.Position, "add kind: github, gitlab, gitea or git", "the forge %s has no kind", name.Value)
		return forge
	}
	if forge.URL == "" && !raw.URL.set() && !raw.Kind.bad {
		l.failf(name.Position, "add url: https://HOST", "the forge %s has no url", name.Value)
	}
	l.forgeRight(name, raw)
	l.plainHTTP("the forge "+name.Value, raw.URL, raw.Insecure)
	if raw.App != nil {
		forge.App = l.app(raw.App)
	}
	return forge
}

func (l *serverLoader) app(raw *rawApp) *App {
	app := &App{
		ID: int64(raw.ID.Value), Key: l.reference(raw.Key, "app.key"),
		Setup: l.reference(raw.Setup, "app.setup"), Organization: raw.Organization.Value,
	}
	if raw.Setup.set() {
		l.appOfSetup(raw)
		return app
	}
	if !raw.bad && (!raw.ID.set() || raw.ID.ok() && raw.ID.Value < 1) {
		l.failf(orPlace(raw.ID.place, raw.place), "write the number that GitHub shows on the App's page, or setup: env:NAME to have one made", "app has no id")
	}
	if !raw.bad && !raw.Key.set() {
		l.failf(raw.Position, "add key: file:/PATH", "app has no private key")
	}
	if raw.Organization.set() {
		l.failf(raw.Organization.Position, "remove organization", "organization is for an App that is made with setup")
	}
	return app
}

// forgeRight checks that a forge has the kind of right that it understands.
func (l *serverLoader) forgeRight(name at[string], raw *rawForge) {
	if raw.App != nil && raw.Kind.ok() && raw.Kind.Value != string(ForgeGitHub) {
		l.failf(raw.App.Position, "use token", "only GitHub knows Apps, but %s is of kind %s", name.Value, raw.Kind.Value)
	}
	if raw.App != nil && raw.Token.set() {
		l.failf(raw.Token.Position, "keep app: it has its own limits and can be asked to review", "the forge %s has both app and token", name.Value)
	}
	if raw.Kind.Value == string(ForgeGit) {
		l.gitRight(name, raw)
		return
	}
	for _, key := range []struct {
		key string
		place
	}{{"username", raw.Username.place}, {"password", raw.Password.place}, {"sshKey", raw.SSHKey.place}, {"knownHosts", raw.KnownHosts.place}} {
		if key.set() && raw.Kind.ok() {
			l.failf(key.Position, "use token", "%s is for plain Git, but %s is of kind %s", key.key, name.Value, raw.Kind.Value)
		}
	}
	if raw.App == nil && !raw.Token.set() && raw.Kind.ok() {
		l.failf(name.Position, "add token: env:NAME", "the forge %s has no right to do anything", name.Value)
	}
}

// gitRight checks the right to push to plain Git: a password over https, a key
// over ssh.
func (l *serverLoader) gitRight(name at[string], raw *rawForge) {
	if raw.Token.set() {
		l.failf(raw.Token.Position, "use username and password", "plain Git knows no token")
	}
	if raw.Password.set() && raw.SSHKey.set() {
		l.failf(last(raw.Password.place, raw.SSHKey.place), "keep one of them", "the forge %s has both password and sshKey", name.Value)
	}
	if raw.Username.set() != raw.Password.set() {
		l.failf(orPlace(raw.Username.place, raw.Password.place), "write both", "the forge %s has only one of username and password", name.Value)
	}
	if raw.SSHKey.set() && !raw.KnownHosts.set() {
		l.failf(raw.SSHKey.Position, "add knownHosts: file:/PATH, as ssh-keyscan prints it", "sshKey of %s has no knownHosts, so that any server could answer", name.Value)
	}
}

// plainHTTP allows http only where the entry asks for it and some network is
// named, because the address must lie in one.
func (l *serverLoader) plainHTTP(what string, address at[string], insecure at[bool]) {
	parsed, err := url.Parse(address.Value)
	http := err == nil && parsed.Scheme == "http"
	switch {
	case http && !insecure.Value:
		l.failf(address.Position, "write https, or add insecure: true", "%s would be spoken to in plain http", what)
	case insecure.Value && address.ok() && !http:
		l.failf(insecure.Position, "remove insecure, or write http", "%s is insecure, but its url is not http", what)
	}
	if insecure.Value && len(l.raw.Networks.Value) == 0 {
		l.failf(insecure.Position, "add networks with the network of the host", "%s is insecure, but plain http is only spoken to addresses in networks, which is empty", what)
	}
}

func (l *serverLoader) repositories() {
	forges := newNameSet(l.raw.Forges.names())
	seen := map[Repository]bool{}
	for _, raw := range l.raw.Repositories {
		if raw.bad {
			continue
		}
		l.repository(raw, forges)
		repository := Repository{Forge: raw.Forge.Value, Name: strings.TrimSuffix(strings.Trim(raw.Name.Value, "/"), ".git")}
		if seen[repository] {
			l.failf(raw.Position, "keep one of them", "the repository %s stands twice", repository.Name)
		}
		seen[repository] = true
		if l.isPlainGit(repository.Forge) {
			repository.Name = strings.Trim(raw.Name.Value, "/") // the path of a URL, in which .git may be needed
		}
		repository.Position = raw.Position
		l.server.Repositories = append(l.server.Repositories, repository)
	}
}

func (l *serverLoader) isPlainGit(forge string) bool {
	return slices.ContainsFunc(l.server.Forges, func(f Forge) bool { return f.Name == forge && f.Kind == ForgeGit })
}

func (l *serverLoader) repository(raw *rawRepository, forges nameSet) {
	if !raw.Forge.set() {
		l.failf(raw.Position, "add forge: NAME", "a repository has no forge")
	} else {
		l.known("forge", raw.Forge, forges)
	}
	if !raw.Name.set() {
		l.failf(raw.Position, "add name: OWNER/NAME", "a repository has no name")
	}
	if raw.Name.ok() && (strings.Contains(raw.Name.Value, "://") || strings.ContainsAny(raw.Name.Value, " *@?#\\") || !strings.Contains(strings.Trim(raw.Name.Value, "/"), "/")) {
		l.failf(raw.Name.Position, "write OWNER/NAME; the host is that of the forge", "that is not the name of a repository")
	}
}
