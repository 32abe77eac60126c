package serverconfig

import (
	"regexp"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/outbound"
	"promoter/internal/strictyaml"
)

// ForgeKind is the kind of a Git server.
type ForgeKind string

// The kinds of forges.
const (
	ForgeGitHub ForgeKind = "github"
	ForgeGitLab ForgeKind = "gitlab"
	ForgeGitea  ForgeKind = "gitea" // and Forgejo
	ForgeGit    ForgeKind = "git"   // plain Git, push only
)

// Forge is a Git server with the credentials to use it.
type Forge struct {
	config.Position
	Name       string
	Kind       ForgeKind
	URL        string // without a slash at the end
	App        *App
	Token      Reference
	Username   string
	Password   Reference
	SSHKey     Reference
	KnownHosts Reference
	Insecure   bool
}

// App is a GitHub App: one with ID and Key, or with Setup one that promoter creates and
// stores in its data folder.
type App struct {
	ID           int64
	Key          Reference
	Setup        Reference // the secret of the page that creates it
	Organization string    // that owns the created one; empty: the account that creates it
}

// Repository is one GitOps repository.
type Repository struct {
	config.Position
	Forge string
	Name  string // OWNER/NAME; with plain Git, the path below the forge's URL
}

// rawForge is a Git host with the credentials to use it.
type rawForge struct {
	strictyaml.Origin `holds:"secrets"`
	// Kind of the Git host. `gitea` includes Forgejo; `git` is plain Git, which has no pull requests.
	Kind strictyaml.Located[string] `yaml:"kind" values:"github gitlab gitea git" required:"true"`
	// URL of the Git host. Default: `https://github.com` or `https://gitlab.com`, required for other kinds.
	URL strictyaml.Located[string] `yaml:"url"`
	// GitHub App that promoter works as, instead of `token`. See docs/github.md#as-a-github-app.
	App *rawApp `yaml:"app"`
	// Access token, by reference. Not for `git`.
	Token strictyaml.Located[string] `yaml:"token"`
	// Username for `git` over https.
	Username strictyaml.Located[string] `yaml:"username"`
	// Password for `git` over https, by reference.
	Password strictyaml.Located[string] `yaml:"password"`
	// Private key for `git` over ssh, by reference. Requires `knownHosts`.
	SSHKey strictyaml.Located[string] `yaml:"sshKey"`
	// Host keys for `git` over ssh, by reference. Requires `sshKey`.
	KnownHosts strictyaml.Located[string] `yaml:"knownHosts"`
	// Allow plain http to this host if its address is in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
}

// rawApp is a GitHub App: an existing one, with id and key, or one that setup creates.
type rawApp struct {
	strictyaml.Origin `holds:"secrets"`
	// ID of the App.
	ID strictyaml.Located[int] `yaml:"id"`
	// Private key of the App, by reference.
	Key strictyaml.Located[string] `yaml:"key"`
	// Secret of the page `/setup/NAME/SECRET`, which creates the App, by reference. At least 32 characters.
	// Requires `url` and SQLite. See docs/github.md#with-setup.
	Setup strictyaml.Located[string] `yaml:"setup"`
	// Owner of the App that `setup` creates. Default: the account of the user who creates it.
	Organization strictyaml.Located[string] `yaml:"organization"`
}

// rawRepository is a GitOps repository.
type rawRepository struct {
	strictyaml.Origin
	// Name of the forge.
	Forge strictyaml.Located[string] `yaml:"forge" required:"true"`
	// Name on the forge: `OWNER/NAME`, with plain Git the path below the `url` of the forge.
	Name strictyaml.Located[string] `yaml:"name" required:"true"`
}

// rawOnboarding is the choice of repositories that get a pull request with a config file.
type rawOnboarding struct {
	strictyaml.Origin
	// Globs of repositories that get the pull request: `HOST/OWNER/NAME`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
}

func loadForges(in *input) []Forge {
	field.CheckNames(in.report, "forge", in.raw.Forges.Keys())
	var forges []Forge
	for _, e := range in.raw.Forges.Entries {
		if !e.Value.Invalid {
			forges = append(forges, loadForge(in, e.Key, e.Value))
		}
	}
	return forges
}

func loadForge(in *input, name strictyaml.Located[string], raw *rawForge) Forge {
	forge := Forge{
		Position: name.Position, Name: name.Value, Kind: ForgeKind(raw.Kind.Value),
		URL: in.url(raw.URL, "forges."+name.Value+".url"), Username: raw.Username.Value, Insecure: raw.Insecure.Value,
		Token:      in.reference(raw.Token, "token"),
		Password:   in.reference(raw.Password, "password"),
		SSHKey:     in.reference(raw.SSHKey, "sshKey"),
		KnownHosts: in.reference(raw.KnownHosts, "knownHosts"),
	}
	if !raw.Kind.IsSet() {
		in.report.Errorf(name.Position, "add kind: github, gitlab, gitea or git", "the forge %s has no kind", name.Value)
		return forge
	}
	if !raw.URL.IsSet() {
		switch forge.Kind {
		case ForgeGitHub:
			forge.URL = "https://github.com"
		case ForgeGitLab:
			forge.URL = "https://gitlab.com"
		case ForgeGitea, ForgeGit:
			in.report.Errorf(name.Position, "add url: https://HOST", "the forge %s has no url", name.Value)
		}
	}
	if raw.Kind.Valid() {
		checkForgeCredentials(in.report, name, raw)
	}
	in.checkHTTP("the forge "+name.Value, raw.URL, raw.Insecure)
	if raw.App != nil {
		forge.App = loadApp(in, raw.App)
	}
	return forge
}

// checkForgeCredentials requires the credentials that the kind of forge supports.
func checkForgeCredentials(report *strictyaml.Report, name strictyaml.Located[string], raw *rawForge) {
	if raw.App != nil && raw.Kind.Value != string(ForgeGitHub) {
		report.Errorf(raw.App.Position, "use token", "only GitHub has Apps, but %s is of kind %s", name.Value, raw.Kind.Value)
	}
	if raw.App != nil && raw.Token.IsSet() {
		report.Errorf(raw.Token.Position, "keep app: it has its own rate limits and can be a reviewer",
			"the forge %s has both app and token", name.Value)
	}
	if raw.Kind.Value != string(ForgeGit) {
		for _, key := range []struct {
			key string
			strictyaml.Origin
		}{
			{"username", raw.Username.Origin},
			{"password", raw.Password.Origin},
			{"sshKey", raw.SSHKey.Origin},
			{"knownHosts", raw.KnownHosts.Origin},
		} {
			report.ErrorIf(key.IsSet(), key.Position, "use token", "%s is for plain Git, but %s is of kind %s", key.key,
				name.Value, raw.Kind.Value)
		}
		if raw.App == nil && !raw.Token.IsSet() {
			report.Errorf(name.Position, "add token: env:NAME", "the forge %s has no credentials", name.Value)
		}
		return
	}
	// Plain Git: a password over https, or a key over ssh.
	report.ErrorIf(raw.Token.IsSet(), raw.Token.Position, "use username and password", "plain Git has no tokens")
	if raw.Password.IsSet() && raw.SSHKey.IsSet() {
		report.Errorf(strictyaml.Last(raw.Password.Origin, raw.SSHKey.Origin), "keep one of them",
			"the forge %s has both password and sshKey", name.Value)
	}
	if raw.Username.IsSet() != raw.Password.IsSet() {
		report.Errorf(strictyaml.FirstSet(raw.Username.Origin, raw.Password.Origin), "write both",
			"the forge %s has only one of username and password", name.Value)
	}
	if raw.SSHKey.IsSet() && !raw.KnownHosts.IsSet() {
		report.Errorf(raw.SSHKey.Position, "add knownHosts: file:/PATH, in the format of ssh-keyscan",
			"sshKey of %s has no knownHosts, so any server would be trusted", name.Value)
	}
}

// validOrganization is the login of an organization on GitHub.
var validOrganization = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$`)

const maxOrganization = 100 // bytes

func loadApp(in *input, raw *rawApp) *App {
	app := &App{
		ID: int64(raw.ID.Value), Key: in.reference(raw.Key, "app.key"),
		Setup: in.reference(raw.Setup, "app.setup"), Organization: raw.Organization.Value,
	}
	switch {
	case raw.Invalid:
	case !raw.Setup.IsSet():
		if !raw.ID.IsSet() || raw.ID.Valid() && raw.ID.Value < 1 {
			in.report.Errorf(strictyaml.FirstSet(raw.ID.Origin, raw.Origin),
				"write the number on the App's page on GitHub, or setup: env:NAME to create an App", "app has no id")
		}
		in.report.ErrorIf(!raw.Key.IsSet(), raw.Position, "add key: file:/PATH", "app has no private key")
		in.report.ErrorIf(raw.Organization.IsSet(), raw.Organization.Position, "remove organization",
			"organization is for an App that is created with setup")
	default:
		in.report.ErrorIf(raw.ID.IsSet() || raw.Key.IsSet(), raw.Setup.Position, "keep id and key, or only setup",
			"app has both a key and setup")
		// The credentials of the App are stored in the data folder, and GitHub redirects
		// the browser back to promoter.
		if in.raw.Database != nil && in.raw.Database.URL.IsSet() {
			const problem = "setup stores the App in the data folder, which replicas with a shared PostgreSQL database do not share"
			in.report.Errorf(raw.Setup.Position, "create the App with 'promoter app create', and write its id and key here", problem)
		}
		in.report.ErrorIf(!in.raw.URL.IsSet(), raw.Setup.Position, "write url: https://HOST",
			"setup needs the url at which GitHub redirects the browser back to promoter")
		if raw.Organization.Valid() && (len(raw.Organization.Value) > maxOrganization ||
			!validOrganization.MatchString(raw.Organization.Value)) {
			in.report.Errorf(raw.Organization.Position, "write it as in its address", "that is not the name of an organization")
		}
	}
	return app
}

func loadRepositories(in *input, forges []Forge) []Repository {
	names := strictyaml.NamesOf(in.raw.Forges.Keys())
	seen := map[Repository]bool{}
	var repositories []Repository
	for _, raw := range in.raw.Repositories {
		if raw.Invalid {
			continue
		}
		if !raw.Forge.IsSet() {
			in.report.Errorf(raw.Position, "add forge: NAME", "a repository has no forge")
		} else {
			in.report.Known("forge", raw.Forge, names)
		}
		path := strings.Trim(raw.Name.Value, "/")
		switch {
		case !raw.Name.IsSet():
			in.report.Errorf(raw.Position, "add name: OWNER/NAME", "a repository has no name")
		case raw.Name.Valid() && (strings.Contains(raw.Name.Value, "://") || strings.ContainsAny(raw.Name.Value, " *@?#\\") ||
			!strings.Contains(path, "/")):
			in.report.Errorf(raw.Name.Position, "write OWNER/NAME; the host is that of the forge", "that is not the name of a repository")
		}
		repository := Repository{Forge: raw.Forge.Value, Name: strings.TrimSuffix(path, ".git")}
		in.report.ErrorIf(seen[repository], raw.Position, "keep one of them", "duplicate repository %s", repository.Name)
		seen[repository] = true
		if slices.ContainsFunc(forges, func(f Forge) bool { return f.Name == repository.Forge && f.Kind == ForgeGit }) {
			repository.Name = path // of a URL, in which .git may be needed
		}
		repository.Position = raw.Position
		repositories = append(repositories, repository)
	}
	return repositories
}

func loadOnboarding(in *input) []string {
	raw := in.raw.Onboarding
	if raw == nil || raw.Invalid {
		return nil
	}
	return in.repositories(raw.Repositories, raw.Origin, "onboarding")
}

// repositories reads the repositories of a section that is about nothing else.
func (in *input) repositories(raw strictyaml.List, section strictyaml.Origin, name string) []string {
	in.report.ErrorIf(!raw.Invalid && len(raw.Items) == 0, section.Position, "add repositories: [HOST/OWNER/*]",
		"%s names no repositories", name)
	checkRepositoryPatterns(in.report, raw, "repositories")
	return raw.Strings()
}

// checkRepositoryPatterns validates patterns of GitOps repositories.
func checkRepositoryPatterns(report *strictyaml.Report, patterns strictyaml.List, key string) {
	for _, pattern := range patterns.Items {
		switch {
		case !pattern.Valid():
		case strings.TrimSpace(pattern.Value) == "" || strings.ContainsAny(pattern.Value, " ?[]{}\\"):
			report.Errorf(pattern.Position, "write HOST/OWNER/NAME; * is one segment, ** many",
				"%s: that is not a pattern of repositories", key)
		case pattern.Value == "**" || pattern.Value == "*":
			report.Warnf(pattern.Position, "name the owners", "%s: this matches every repository", key)
		}
	}
}

// Address returns HOST/OWNER/NAME of a repository on the forge, in lower case.
func (f Forge) Address(name string) string {
	return strings.ToLower(outbound.Host(f.URL) + "/" + name)
}

// IsOn reports whether the forge is on a host.
func (f Forge) IsOn(host string) bool { return strings.EqualFold(outbound.Host(f.URL), host) }
