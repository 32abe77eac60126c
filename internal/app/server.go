package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/registry"
	"promoter/internal/scm/github"
	"promoter/internal/telemetry"
)

// ServerFile is the name of the server's file in the folder where a command is
// run.
const ServerFile = "promoter-server.yaml"

// configVariable names the server's file where no flag does.
const configVariable = "PROMOTER_CONFIG"

// ServerOptions say which repositories a command works on.
type ServerOptions struct {
	// Config is the server's file. Empty: the one that PROMOTER_CONFIG names, or
	// promoter-server.yaml where that is there, or none.
	Config string
	// Repositories narrow the file's list: OWNER/NAME or FORGE:OWNER/NAME. Without
	// a file they are the list: URLs of Git. Empty: all of the file.
	Repositories []string
	// Networks are private networks, as CIDR, that may be dialled without a file.
	Networks []string
	Env      func(string) (string, bool)
	Now      func() time.Time
}

// Server is a list of repositories with all that is needed to work on them: the
// server's file, or what a person's own environment gives in its place.
type Server struct {
	file     *config.Server // never nil
	own      bool           // there is no file: a person's own run
	local    bool           // own, and all repositories lie on this machine
	env      func(string) (string, bool)
	now      func() time.Time
	pace     time.Duration // between two writes to a forge
	work     queue.Options // how the queue works, where that is not as usual
	around   database.CommitHook
	logins   *registry.Logins
	memories *registry.Cache
	standing standing
	outward  outward
	metrics  *telemetry.Metrics                      // nil: nothing is counted
	traces   *telemetry.Traces                       // nil: nothing is followed
	watch    func(to string, answer outbound.Answer) // in place of metrics; nil: nobody watches
	targets  []target
	// everywhere are forges whose Apps work on all that they are installed on.
	everywhere []config.Forge
}

// target is one repository as a person wrote it.
type target struct {
	name   string // as in the file, or the URL
	forge  config.Forge
	rights string // what it is opened with, in words; empty: with nothing
}

// OpenServer reads the server's file and finds the repositories that are meant.
// It asks nobody yet.
func OpenServer(options ServerOptions) (*Server, error) {
	file, found, err := findServerFile(options)
	if err != nil {
		return nil, err
	}
	s := &Server{logins: registry.NewLogins(), memories: registry.NewCache(), own: !found, env: options.Env, now: options.Now, pace: github.WritePace}
	if !found {
		return s, s.openOwn(options)
	}
	if len(options.Networks) > 0 {
		return nil, fault.New(fault.Invalid, "--network is for repositories without a server's file: write networks in %s", file)
	}
	if s.file, err = loadServer(file, options.Env); err != nil {
		if options.Config == "" && file != ServerFile {
			err = fmt.Errorf("%w (%s names it)", err, configVariable)
		}
		return nil, err
	}
	return s, s.narrow(options.Repositories)
}

// Repositories returns the repositories as they were written, in order.
func (s *Server) Repositories() []string {
	names := make([]string, 0, len(s.targets))
	for _, t := range s.targets {
		names = append(names, t.name)
	}
	return names
}

// findServerFile says which file is meant. What a person says counts before the
// environment, and that before what happens to lie in the folder.
func findServerFile(options ServerOptions) (file string, found bool, err error) {
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
		return "", false, fmt.Errorf("look for the server's file: %w", err)
	}
	return ServerFile, true, nil
}

func loadServer(file string, env func(string) (string, bool)) (*config.Server, error) {
	data, err := readFile(file, config.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read the server's file: %w", err)
	}
	loaded, problems := config.LoadServer(file, data, env)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &config.Error{Problems: errs}
	}
	return loaded, nil
}

// maxListed is how many names an error lists.
const maxListed = 20

func repositoryList(file *config.Server) string {
	var names []string
	for _, repository := range file.Repositories {
		names = append(names, repository.Forge+":"+repository.Name)
	}
	return namesOf(names)
}

// namesOf joins the first names for an error.
func namesOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// sources is where the secrets of the file are fetched from.
func (s *Server) sources() config.Sources {
	return config.Sources{
		Env:  s.env,
		Open: func(path string) (io.ReadCloser, error) { return os.Open(path) },
	}
}
