package serverfile

import (
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm/gitlab"
)

// The variables that hold the credentials of a command without a server file. Only such
// a command reads them, never a service.
const (
	githubTokenVariable = "PROMOTER_GITHUB_TOKEN"
	gitlabTokenVariable = "PROMOTER_GITLAB_TOKEN"
	giteaTokenVariable  = "PROMOTER_GITEA_TOKEN"
	giteaURLVariable    = "PROMOTER_GITEA_URL" // the server that the token belongs to
	gitUserVariable     = "PROMOTER_GIT_USERNAME"
	gitPasswordVariable = "PROMOTER_GIT_PASSWORD"
	sshKeyVariable      = "PROMOTER_GIT_SSH_KEY"
	knownHostsVariable  = "PROMOTER_GIT_KNOWN_HOSTS"
	committerVariable   = "PROMOTER_COMMITTER"
)

// Forges that are known without a server file.
const (
	publicGitHub = "https://github.com/"
	publicGitLab = gitlab.PublicURL + "/"
)

// openStandalone lists repositories by their Git URLs, each with the credential that
// the environment has for it.
func openStandalone(options Options) (*Server, error) {
	if len(options.Repositories) == 0 {
		return nil, fault.New(fault.Invalid,
			"there is no %s here: name the server file with --config, or a repository's URL with --repo", ServerFile)
	}
	s, err := WithoutFile(options)
	if err != nil {
		return nil, err
	}
	s.Standalone, s.Local = true, true
	s.File.Seal = serverconfig.SealFromEnvironment(options.Env)
	s.File.Signing = serverconfig.SigningFromEnvironment(options.Env)
	env := environment(options.Env)
	if text, set := options.Env(committerVariable); set && text != "" {
		committer, ok := serverconfig.ParseCommitter(text)
		if !ok {
			return nil, fault.New(fault.Invalid, "%s is not a name and an address: write NAME <EMAIL>", committerVariable)
		}
		s.File.Committer = committer
	}
	seen := map[string]bool{}
	for _, address := range options.Repositories {
		if seen[address] {
			continue
		}
		seen[address] = true
		t, err := env.target(address)
		if err != nil {
			return nil, err
		}
		s.Local = s.Local && strings.HasPrefix(strings.ToLower(address), "file:")
		s.Targets = append(s.Targets, t)
	}
	return s, nil
}

// environment is what the environment of a user gives instead of a server file.
type environment func(string) (string, bool)

// target finds the forge of a URL. Its errors never quote the URL before it is known
// to hold no password.
func (env environment) target(address string) (Target, error) {
	switch {
	case address == "":
		return Target{}, fault.New(fault.Invalid,
			"--repo is empty: write the repository's URL, as in https://git.example.com/acme/gitops or file:///PATH")
	case strings.HasPrefix(address, "/"):
		return Target{}, fault.New(fault.Invalid, "--repo %s: write a repository of this machine as file://%s", address, address)
	case !strings.Contains(address, ":"):
		return Target{}, fault.New(fault.Invalid,
			"--repo %s: without a server file the whole URL is needed, as in https://git.example.com/%s or file:///PATH",
			address, strings.Trim(address, "/"))
	case holdsCredential(address):
		return Target{}, fault.New(fault.Invalid, "--repo: the URL holds a user or a password: remove it, and set %s and %s",
			gitUserVariable, gitPasswordVariable)
	}
	key, err := identity.GitKey(address)
	if err != nil {
		return Target{}, fault.New(fault.Invalid, "--repo: %w", err)
	}

	if name, ok := strings.CutPrefix(address, publicGitHub); ok {
		forge := serverconfig.Forge{Name: "github", Kind: serverconfig.ForgeGitHub, URL: strings.TrimSuffix(publicGitHub, "/")}
		return env.tokenTarget(forge, name, githubTokenVariable,
			"--repo %s%s: set %s to a token that may read and write its contents and pull requests",
			publicGitHub, name, githubTokenVariable)
	}
	// With a password for Git and no token for GitLab, a repository there is plain Git.
	onlyGit := env.reference(gitlabTokenVariable).IsZero() && !env.reference(gitPasswordVariable).IsZero()
	if name, ok := strings.CutPrefix(address, publicGitLab); ok && !onlyGit {
		forge := serverconfig.Forge{Name: "gitlab", Kind: serverconfig.ForgeGitLab, URL: gitlab.PublicURL}
		return env.tokenTarget(forge, name, gitlabTokenVariable, "--repo %s%s: set %s to a token with the scope api and the role Developer",
			publicGitLab, name, gitlabTokenVariable)
	}
	// Any server may be a Gitea, so its URL has to be given.
	if base, set := env(giteaURLVariable); set && base != "" {
		base = strings.TrimRight(base, "/")
		if name, ok := strings.CutPrefix(address, base+"/"); ok {
			forge := serverconfig.Forge{Name: "gitea", Kind: serverconfig.ForgeGitea, URL: base}
			return env.tokenTarget(forge, name, giteaTokenVariable, "--repo: %s is set: set %s to a token with the scopes of docs/gitea.md",
				giteaURLVariable, giteaTokenVariable)
		}
	}

	forge := serverconfig.Forge{Name: "git", Kind: serverconfig.ForgeGit}
	forge.Username, _ = env(gitUserVariable)
	forge.Password = env.reference(gitPasswordVariable)
	forge.SSHKey = env.reference(sshKeyVariable)
	forge.KnownHosts = env.reference(knownHostsVariable)
	if strings.HasPrefix(string(key), "git:ssh:") && (forge.KnownHosts.IsZero() || forge.SSHKey.IsZero() && forge.Password.IsZero()) {
		return Target{}, fault.New(fault.Invalid, "--repo: %s wants %s, and %s as ssh-keyscan prints it", address,
			sshKeyVariable, knownHostsVariable)
	}
	return Target{Name: address, Forge: forge, Credential: gitCredential(string(key), forge)}, nil
}

// tokenTarget is a repository of a forge that is asked with the token of a variable. The
// advice is the error if that is not set.
func (env environment) tokenTarget(forge serverconfig.Forge, name, variable, advice string, arguments ...any) (Target, error) {
	if forge.Token = env.reference(variable); forge.Token.IsZero() {
		return Target{}, fault.New(fault.Invalid, advice, arguments...)
	}
	name = strings.TrimSuffix(strings.Trim(name, "/"), ".git")
	return Target{Name: name, Forge: forge, Credential: "the token in " + variable}, nil
}

// reference refers to a variable if it is set.
func (env environment) reference(variable string) serverconfig.Reference {
	if value, set := env(variable); !set || value == "" {
		return serverconfig.Reference{}
	}
	reference, err := serverconfig.ParseReference("env:" + variable)
	if err != nil {
		return serverconfig.Reference{} // the names above are well formed
	}
	return reference
}

// gitCredential names the variable whose value is sent to a repository of plain Git.
func gitCredential(key string, forge serverconfig.Forge) string {
	switch {
	case strings.HasPrefix(key, "git:file:"):
		return ""
	case strings.HasPrefix(key, "git:ssh:") && !forge.SSHKey.IsZero():
		return "the key in " + sshKeyVariable
	case forge.Password.IsZero():
		return "a user without a password in " + gitPasswordVariable
	default:
		return "the password in " + gitPasswordVariable
	}
}

// holdsCredential reports whether a URL has a password, or a user that is not part of
// the address.
func holdsCredential(address string) bool {
	before, _, found := strings.Cut(address, "@")
	if !found {
		return false
	}
	scheme, user, isURL := strings.Cut(before, "://")
	if !isURL {
		return strings.Contains(before, ":") // USER@HOST:PATH has none before the @
	}
	return !strings.EqualFold(scheme, "ssh") && !strings.Contains(user, "/") || strings.Contains(user, ":")
}
