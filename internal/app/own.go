package app

import (
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/identity"
)

// The variables that hold credentials of a run without a server's file. They are
// read only by such a run, and never by a server.
const (
	githubTokenVariable = "PROMOTER_GITHUB_TOKEN"
	gitUserVariable     = "PROMOTER_GIT_USERNAME"
	gitPasswordVariable = "PROMOTER_GIT_PASSWORD"
	sshKeyVariable      = "PROMOTER_GIT_SSH_KEY"
	knownHostsVariable  = "PROMOTER_GIT_KNOWN_HOSTS"
)

// publicGitHub is a forge that is known without a server's file.
const publicGitHub = "https://github.com/"

// openOwn finds the repositories of a run without a server's file: URLs of Git,
// each with what the environment gives for it.
func (s *Server) openOwn(options ServerOptions) error {
	if len(options.Repositories) == 0 {
		return fault.New(fault.Invalid, "there is no %s here: name the server's file with --config, or a repository's URL with --repo", ServerFile)
	}
	networks, err := parseNetworks(options.Networks)
	if err != nil {
		return err
	}
	s.file, s.local = &config.Server{Networks: networks}, true
	seen := map[string]bool{}
	for _, address := range options.Repositories {
		if seen[address] {
			continue
		}
		seen[address] = true
		t, err := s.ownTarget(address)
		if err != nil {
			return err
		}
		s.local = s.local && isFile(address)
		s.targets = append(s.targets, t)
	}
	return nil
}

// ownTarget makes a forge of a URL. No error quotes it: it may hold a password.
func (s *Server) ownTarget(address string) (target, error) {
	switch {
	case address == "":
		return target{}, fault.New(fault.Invalid, "--repo is empty: write the repository's URL, as in https://git.example.com/acme/gitops or file:///PATH")
	case strings.HasPrefix(address, "/"):
		return target{}, fault.New(fault.Invalid, "--repo %s: write a repository of this machine as file://%s", address, address)
	case !strings.Contains(address, ":"):
		return target{}, fault.New(fault.Invalid, "--repo %s: without a server's file the whole URL is needed, as in https://git.example.com/%s or file:///PATH", address, strings.Trim(address, "/"))
	}
	if holdsCredential(address) {
		return target{}, fault.New(fault.Invalid, "--repo: the URL holds a user or a password: remove it, and set %s and %s", gitUserVariable, gitPasswordVariable)
	}
	key, err := identity.GitKey(address)
	if err != nil {
		return target{}, fault.New(fault.Invalid, "--repo: %w", err)
	}
	if name, ok := strings.CutPrefix(address, publicGitHub); ok {
		return s.ownGitHub(name)
	}
	if name, ok := strings.CutPrefix(address, publicGitLab); ok && !s.onlyGit() {
		return s.ownGitLab(name)
	}
	if name, ok := s.onGitea(address); ok {
		return s.ownGitea(name)
	}
	forge := config.Forge{Name: "git", Kind: config.ForgeGit}
	if user, set := s.env(gitUserVariable); set {
		forge.Username = user
	}
	forge.Password = s.ownReference(gitPasswordVariable)
	forge.SSHKey = s.ownReference(sshKeyVariable)
	forge.KnownHosts = s.ownReference(knownHostsVariable)
	if strings.HasPrefix(string(key), "git:ssh:") && (forge.KnownHosts.IsZero() || forge.SSHKey.IsZero() && forge.Password.IsZero()) {
		return target{}, fault.New(fault.Invalid, "--repo: %s wants %s, and %s as ssh-keyscan prints it", address, sshKeyVariable, knownHostsVariable)
	}
	return target{name: address, forge: forge, rights: ownRights(string(key), forge)}, nil
}

// ownRights names the variables whose values are sent to a repository of Git.
func ownRights(key string, forge config.Forge) string {
	switch {
	case strings.HasPrefix(key, "git:file:"):
		return ""
	case strings.HasPrefix(key, "git:ssh:") && !forge.SSHKey.IsZero():
		return "the key in " + sshKeyVariable
	case forge.Password.IsZero():
		return "who gives no password in " + gitPasswordVariable
	default:
		return "the password in " + gitPasswordVariable
	}
}

// holdsCredential says whether a password stands in a URL, or a user where that is
// no part of the address.
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

func (s *Server) ownGitHub(name string) (target, error) {
	forge := config.Forge{Name: "github", Kind: config.ForgeGitHub, URL: strings.TrimSuffix(publicGitHub, "/")}
	if forge.Token = s.ownReference(githubTokenVariable); forge.Token.IsZero() {
		return target{}, fault.New(fault.Invalid, "--repo %s%s: set %s to a token that may read and write its contents and pull requests", publicGitHub, name, githubTokenVariable)
	}
	return tokenTarget(name, forge, githubTokenVariable), nil
}

// tokenTarget is a repository of a forge that is asked with the token of a variable.
func tokenTarget(name string, forge config.Forge, variable string) target {
	return target{
		name: strings.TrimSuffix(strings.Trim(name, "/"), ".git"), forge: forge, rights: "the token in " + variable,
	}
}

// ownReference refers to a variable that is set.
func (s *Server) ownReference(variable string) config.Reference {
	if value, set := s.env(variable); !set || value == "" {
		return config.Reference{}
	}
	reference, err := config.ParseReference("env:" + variable)
	if err != nil {
		return config.Reference{} // the names above are well formed
	}
	return reference
}

func isFile(address string) bool { return strings.HasPrefix(strings.ToLower(address), "file:") }
