// Package serverfile finds and reads the server file of a process, or what the environment of a
// user who has none gives instead: the repositories, and the secrets and stored files that the
// file names. It sends no request.
package serverfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"promoter/internal/atomicfile"
	"promoter/internal/certificate"
	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
	"promoter/internal/unused"
)

// ServerFile is the name of the server file in the working directory.
const ServerFile = "promoter-server.yaml"

// configVariable names the server file where no flag does.
const configVariable = "PROMOTER_CONFIG"

// Options select the server file and its repositories.
type Options struct {
	// Config is the server file. If it is empty, PROMOTER_CONFIG names it, or
	// promoter-server.yaml in the working directory is used if it exists.
	Config string
	// Repositories restrict the list of the file: OWNER/NAME or FORGE:OWNER/NAME.
	// Without a file they are the list, as Git URLs. Empty: all of the file.
	Repositories []string
	// Networks are private networks, as CIDR, that may be dialed without a file.
	Networks []string
	Env      func(string) (string, bool)
	Now      func() time.Time
	// WritePace is the minimum time between two writes to a forge. Zero: what GitHub
	// asks for; negative: none.
	WritePace time.Duration
}

// Server is a list of repositories with the configuration that they need: the server
// file, or what the environment of a user gives instead.
type Server struct {
	File    *serverconfig.Config // never nil
	Targets []Target             // the listed repositories, in order
	// Discover are forges whose GitHub App lists its repositories itself.
	Discover []serverconfig.Forge
	// Standalone reports that there is no server file.
	Standalone bool
	Env        func(string) (string, bool)
	Now        func() time.Time

	// Local reports that all repositories are on this machine; only without a server file.
	Local bool
	// WritePace is the minimum time between two writes to a forge.
	WritePace time.Duration

	// Files are the secrets in files, which are replaced while a service runs.
	Files *secret.Files

	sealKey secret.String // that a service made; zero: none
}

// Target is a repository as it was listed.
type Target struct {
	Name  string // as in the server file, or its URL
	Forge serverconfig.Forge

	// Credential is what it is opened with, in words; empty: nothing.
	Credential string
}

// Address returns HOST/OWNER/NAME in lower case.
func (t Target) Address() string { return t.Forge.Address(t.Name) }

// OpenServer reads the server file and selects its repositories. It sends no request.
func OpenServer(options Options) (*Server, error) {
	file, found, err := findFile(options)
	if err != nil {
		return nil, err
	}
	if !found {
		return openStandalone(options)
	}
	if err := checkNetworks(options, file); err != nil {
		return nil, err
	}
	s := newServer(options)
	if s.File, err = load(file, options.Env); err != nil {
		if options.Config == "" && file != ServerFile {
			err = fmt.Errorf("%w (%s names it)", err, configVariable)
		}
		return nil, err
	}
	return s, s.selectTargets(options.Repositories)
}

// OpenService is OpenServer for a service, which requires a server file.
func OpenService(options Options) (*Server, error) {
	if _, err := requireFile(options); err != nil {
		return nil, err
	}
	return OpenServer(options)
}

// OpenFile reads the server file and selects no repositories.
func OpenFile(options Options) (*Server, error) {
	name, err := requireFile(options)
	if err != nil {
		return nil, err
	}
	if err := checkNetworks(options, name); err != nil {
		return nil, err
	}
	s := newServer(options)
	s.File, err = load(name, options.Env)
	return s, err
}

// checkNetworks requires that a server file, if there is one, has the networks.
func checkNetworks(options Options, file string) error {
	if len(options.Networks) > 0 {
		return fault.New(fault.Invalid, "--network is for commands without a server file: write networks in %s", file)
	}
	return nil
}

// WithoutFile returns a Server without repositories that may dial the networks of the
// options.
func WithoutFile(options Options) (*Server, error) {
	networks, err := ParseNetworks(options.Networks)
	s := newServer(options)
	s.File = &serverconfig.Config{Networks: networks}
	return s, err
}

func newServer(options Options) *Server {
	pace := cmp.Or(options.WritePace, github.WritePace)
	return &Server{Env: options.Env, Now: options.Now, WritePace: max(pace, 0), Files: secret.NewFiles(options.Now)}
}

// HasFile reports whether there is a server file, named or in the working directory.
func HasFile(options Options) bool {
	_, found, err := findFile(options)
	return found || err != nil
}

// Validate checks a server file, whether its rules know the environments of the configs, and what it names or they
// name and that matches nothing. Which repository a config is of is not known, so entries for any
// count. Problems are not an error: they are the result.
func Validate(file string, env func(string) (string, bool), facts unused.Facts) (config.Problems, error) {
	loaded, problems, err := read(file, env)
	if err == nil && loaded != nil {
		for _, r := range facts.Repositories {
			problems = append(problems, rules.UnknownEnvironments(loaded, r.Config, func([]string) bool { return true })...)
			problems = append(problems, rules.UnseenSources(loaded, r.Config)...)
		}
		facts.Server, facts.Names = loaded, matchersOf(loaded)
		facts.Complete = len(facts.Repositories) == 1 && len(facts.Names) == 1
	}
	return append(problems, unused.Find(facts)...), err
}

// matchersOf returns the repositories that a server file lists; nil if an App may be installed on others.
func matchersOf(file *serverconfig.Config) (all []unused.Matcher) {
	if slices.ContainsFunc(file.Forges, func(f serverconfig.Forge) bool { return f.App != nil }) {
		return nil
	}
	for _, r := range file.Repositories {
		i := slices.IndexFunc(file.Forges, func(f serverconfig.Forge) bool { return f.Name == r.Forge })
		if i >= 0 {
			forge := file.Forges[i]
			all = append(all, rules.Listed(forge, r).MatchesAny)
		}
	}
	return all
}

// findFile selects the server file: a flag wins over the environment, and that over the
// working directory.
func findFile(options Options) (file string, found bool, err error) {
	if options.Config != "" {
		return options.Config, true, nil
	}
	if file, set := options.Env(configVariable); set && file != "" {
		return file, true, nil
	}
	_, err = os.Lstat(ServerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look for the server file: %w", err)
	}
	return ServerFile, true, nil
}

func requireFile(options Options) (string, error) {
	file, found, err := findFile(options)
	if err == nil && !found {
		err = fault.New(fault.Invalid, "there is no %s here: name the server file with --config", ServerFile)
	}
	return file, err
}

func load(file string, env func(string) (string, bool)) (*serverconfig.Config, error) {
	loaded, problems, err := read(file, env)
	if err != nil {
		return nil, err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &config.Error{Problems: errs}
	}
	return loaded, nil
}

func read(file string, env func(string) (string, bool)) (*serverconfig.Config, config.Problems, error) {
	data, err := atomicfile.Read(file, config.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("read the server file: %w", err)
	}
	loaded, problems := serverconfig.Load(file, data, env)
	return loaded, problems, nil
}

// ParseNetworks parses networks as CIDR.
func ParseNetworks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fault.New(fault.Invalid, "--network %q: want a network like 10.0.0.0/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Repositories returns the names of the listed repositories, in order.
func (s *Server) Repositories() []string {
	names := make([]string, 0, len(s.Targets))
	for _, t := range s.Targets {
		names = append(names, t.Name)
	}
	return names
}

// Secret resolves a reference of the file. The zero reference gives the zero secret. One in a file
// follows the file.
func (s *Server) Secret(reference serverconfig.Reference) (secret.String, error) {
	if reference.IsZero() {
		return secret.String{}, nil
	}
	return reference.Resolve(s.SecretSources())
}

// SecretSources is where the references of the file are resolved.
func (s *Server) SecretSources() serverconfig.Sources {
	return serverconfig.Sources{
		Env:   s.Env,
		Open:  func(path string) (io.ReadCloser, error) { return os.Open(path) },
		Files: s.Files,
	}
}

// Forges returns the forges of the file, also those without a repository, because
// releases may be followed there. Without a file they are those of the targets.
func (s *Server) Forges() []serverconfig.Forge {
	if !s.Standalone {
		return s.File.Forges
	}
	var forges []serverconfig.Forge
	for _, t := range s.Targets {
		forges = append(forges, t.Forge)
	}
	return forges
}

// Forge returns the forge of a name; the zero Forge if there is none.
func (s *Server) Forge(name string) serverconfig.Forge {
	for _, forge := range s.File.Forges {
		if forge.Name == name {
			return forge
		}
	}
	return serverconfig.Forge{}
}

// HasHost reports whether a forge is on a host.
func (s *Server) HasHost(host string) bool {
	return slices.ContainsFunc(s.Forges(), func(c serverconfig.Forge) bool { return c.IsOn(host) })
}

// DiscoversOn reports whether the Apps on a host list their repositories themselves.
func (s *Server) DiscoversOn(host string) bool {
	return slices.ContainsFunc(s.Discover, func(c serverconfig.Forge) bool { return c.IsOn(host) })
}

// Certificate returns where the certificate of the service is read from.
func (s *Server) Certificate() certificate.Source {
	return certificate.Source{TLS: s.File.TLS, Secrets: s.SecretSources(), Now: s.Now}
}

// DatabasePath returns the SQLite file.
func (s *Server) DatabasePath() string {
	return cmp.Or(s.File.Database.Path, filepath.Join(s.File.Data, "promoter.db"))
}

// selectTargets selects the repositories of the file that the user named, each once and
// in the order of the file. Without names it selects all of the file, and those that
// the Apps of other forges list.
func (s *Server) selectTargets(named []string) error {
	wanted := map[int]bool{}
	var onApps []Target
	seen := map[string]bool{}
	for _, text := range named {
		forge, name, qualified := strings.Cut(text, ":")
		if !qualified {
			forge, name = "", text
		}
		inFile := listed(s.File, forge, name)
		for _, i := range inFile {
			wanted[i] = true
		}
		var installed []Target
		if len(inFile) == 0 {
			installed = repositoriesOnApps(s.File, forge, name)
		}
		switch len(inFile) + len(installed) {
		case 0:
			return fault.New(fault.Invalid, "--repo %s: %s has no such repository; it has %s", outbound.Scrub(text),
				s.File.File, listAll(s.File))
		case 1:
		default:
			return fault.New(fault.Invalid, "--repo %s: several forges have one, or may have: write FORGE:%[1]s", outbound.Scrub(text))
		}
		for _, t := range installed {
			key := t.Forge.Name + ":" + strings.ToLower(t.Name)
			if !seen[key] {
				onApps = append(onApps, t)
			}
			seen[key] = true
		}
	}
	for i, repository := range s.File.Repositories {
		if len(named) == 0 || wanted[i] {
			s.Targets = append(s.Targets, newTarget(s.Forge(repository.Forge), repository.Name))
		}
	}
	s.Targets = append(s.Targets, onApps...)
	if len(named) == 0 {
		s.Discover = appsWithoutRepositories(s.File)
	}
	if len(s.Targets) == 0 && len(s.Discover) == 0 {
		return fault.New(fault.Invalid, "%s names no repositories: add some under repositories", s.File.File)
	}
	return nil
}

func newTarget(forge serverconfig.Forge, name string) Target {
	credential := "the credential of the forge " + forge.Name
	if forge.App != nil {
		credential = "the App of the forge " + forge.Name
	}
	return Target{Name: name, Forge: forge, Credential: credential}
}

// listed returns the entries of the file that a --repo flag selects. An empty forge
// stands for any.
func listed(file *serverconfig.Config, forge, name string) []int {
	var found []int
	for i, repository := range file.Repositories {
		if repository.Name == name && (forge == "" || repository.Forge == forge) {
			found = append(found, i)
		}
	}
	return found
}

// repositoriesOnApps returns the repositories that a --repo flag may select on Apps that
// list their repositories themselves: only GitHub knows which exist.
func repositoriesOnApps(file *serverconfig.Config, forge, name string) []Target {
	owner, short, whole := strings.Cut(name, "/")
	if !whole || owner == "" || short == "" || strings.Contains(short, "/") {
		return nil
	}
	var found []Target
	for _, app := range appsWithoutRepositories(file) {
		if forge == "" || forge == app.Name {
			found = append(found, newTarget(app, name))
		}
	}
	return found
}

// appsWithoutRepositories returns the forges with an App of which the file names no
// repository.
func appsWithoutRepositories(file *serverconfig.Config) []serverconfig.Forge {
	named := map[string]bool{}
	for _, repository := range file.Repositories {
		named[repository.Forge] = true
	}
	var apps []serverconfig.Forge
	for _, forge := range file.Forges {
		if forge.App != nil && !named[forge.Name] {
			apps = append(apps, forge)
		}
	}
	return apps
}

func listAll(file *serverconfig.Config) string {
	var names []string
	for _, repository := range file.Repositories {
		names = append(names, repository.Forge+":"+repository.Name)
	}
	return fault.List(names)
}
