package githubapp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"promoter/internal/config/field"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/serverfile"
)

// Options describe the App that Create creates, and where.
type Options struct {
	Config       string // a server file with url, networks, and the forge; empty: none
	Forge        string // its name in the server file; empty: github
	GitHub       string // the URL of the GitHub; empty: that of the forge in the file, or the public one
	Organization string // the owner of the App; empty: the user's own account
	Name         string // of the App; empty: one that is likely to be free
	URL          string // where GitHub reaches the service; empty: that of the file, or the App has no webhook
	Folder       string // for the credentials
	Public       bool
	With         []string // additional permissions
	Networks     []string // private networks that may be dialed, without a file
	// Timeout is how long the user has. Zero: an hour, as long as GitHub permits.
	Timeout time.Duration
	Env     func(string) (string, bool)
	Now     func() time.Time
	Log     *slog.Logger
	// Opened is called with the address for the browser.
	Opened func(address string)
	// Failed is called with an error after which the user may try again in the browser.
	Failed func(error)
}

// Created is an App that was created, and where its credentials are.
type Created struct {
	App           serverfile.StoredApp
	Forge         string // its name in the server file
	URL           string // of its GitHub; empty: the public one
	Folder        string // absolute
	Key           string // the file
	ClientSecret  string // the file
	WebhookSecret string // the file; empty: the App has no webhook
}

// Defaults of Options.
const (
	DefaultFolder  = "promoter-app"
	defaultForge   = "github"
	defaultTimeout = time.Hour
)

// drainFor is how long a request of the browser may take after the end.
const drainFor = 20 * time.Second

var errTimeout = fault.New(fault.Invalid, "nothing was created in the browser within the time: nothing was written; run it again")

// Create creates a GitHub App with the help of a user in a browser on this machine, and
// stores its credentials.
func Create(ctx context.Context, options Options) (created Created, err error) {
	l, err := newLocal(options)
	if err != nil {
		return Created{}, err
	}
	madeFolder, err := l.creator.check()
	defer func() {
		if madeFolder && err != nil {
			_ = os.Remove(string(l.creator.folder)) // it remains if it is not empty
		}
	}()
	if err != nil {
		return Created{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(options.Timeout, defaultTimeout), errTimeout)
	defer cancel()
	stored, err := l.run(ctx, cancel)
	if err != nil {
		return Created{}, err
	}
	return l.describe(stored), nil
}

// local creates one App on the machine of a user. It implements server.AppCreator, and
// ends when the App was created or never will be.
type local struct {
	creator *creator
	options Options
	forge   string
	end     context.CancelFunc

	mutex  sync.Mutex // held while the App is created
	stored *serverfile.StoredApp
	err    error // that ends it
}

// newLocal validates the options. It sends no request.
func newLocal(options Options) (*local, error) {
	s, err := openFile(options)
	if err != nil {
		return nil, err
	}
	forge := cmp.Or(options.Forge, defaultForge)
	if !field.ValidName(forge) { // the server file would refuse it after the App was created
		return nil, fault.New(fault.Invalid, "--forge %q: write small letters, digits and inner dashes, at most 40", forge)
	}
	known := s.Forge(forge)
	if known.Name != "" && known.Kind != serverconfig.ForgeGitHub {
		return nil, fault.New(fault.Invalid, "--forge %s: it is of kind %s, and only GitHub knows Apps", forge, known.Kind)
	}
	connections, err := connect.New(s, connect.Hooks{})
	if err != nil {
		return nil, err
	}
	c, err := newCreator(connections, cmp.Or(options.GitHub, known.URL, github.PublicURL))
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(cmp.Or(options.Folder, DefaultFolder))
	if err != nil {
		return nil, err
	}
	c.folder, c.organization = serverfile.AppFolder(folder), options.Organization
	address, err := webhookAddress(cmp.Or(options.URL, s.File.URL))
	if err != nil {
		return nil, err
	}
	c.manifest = github.ManifestOptions{
		Name: cmp.Or(options.Name, proposeName(options.Organization, address)), Homepage: cmp.Or(address, c.page),
		Public: options.Public, With: options.With,
	}
	if address != "" {
		c.manifest.Hook = address + serverfile.WebhookPath(forge)
	}
	return &local{creator: c, options: options, forge: forge}, nil
}

// openFile returns the server file of the options, or an empty one.
func openFile(options Options) (*serverfile.Server, error) {
	from := serverfile.Options{Config: options.Config, Networks: options.Networks, Env: options.Env, Now: options.Now}
	if options.Config == "" {
		return serverfile.WithoutFile(from)
	}
	return serverfile.OpenFile(from)
}

// webhookAddress validates an address to which GitHub can send webhooks; empty: there is
// none.
func webhookAddress(address string) (string, error) {
	parsed, err := url.Parse(address)
	web := err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != "" && parsed.User == nil
	switch {
	case address == "":
		return "", nil
	case !web || parsed.RawQuery != "" || parsed.Fragment != "":
		return "", fault.New(fault.Invalid, "--url: write https://HOST, where GitHub reaches promoter serve")
	case outbound.IsLoopback(parsed.Hostname()):
		return "", fault.New(fault.Invalid,
			"--url %s: GitHub does not reach this machine under that name: write the one that others use, or leave it out", address)
	}
	return strings.TrimRight(address, "/"), nil
}

// run answers the browser until the App was created or never will be.
func (l *local) run(ctx context.Context, end context.CancelFunc) (serverfile.StoredApp, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return serverfile.StoredApp{}, fmt.Errorf("listen for the browser: %w", err)
	}
	host, word := listener.Addr().String(), rand.Text()+rand.Text()
	l.end = end
	l.creator.manifest.Redirect = "http://" + host + server.SetupCallbackPath(l.forge)
	l.creator.created = func(stored serverfile.StoredApp) []string {
		l.stored = &stored
		return []string{
			"The credentials are in " + string(l.creator.folder) + ".",
			"The terminal shows the lines for the server file. This page can be closed.",
		}
	}
	pages, err := server.NewSetupServer(server.Options{
		Setups: []*server.Setup{{Name: l.forge, Secret: secret.New(word), Creator: l}}, Log: l.options.Log, Now: l.options.Now,
	}, host)
	if err != nil {
		return serverfile.StoredApp{}, errors.Join(err, listener.Close())
	}
	l.options.Opened("http://" + host + server.SetupPath(l.forge, word))
	return l.outcome(ctx, pages.Listen(ctx, listener, drainFor))
}

// Preview implements server.AppCreator.
func (l *local) Preview(ctx context.Context) (server.AppPreview, error) {
	return l.creator.Preview(ctx)
}

// Create implements server.AppCreator.
func (l *local) Create(ctx context.Context, code string) (server.CreatedApp, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	created, err := l.creator.Create(ctx, code)
	if kind := fault.KindOf(err); kind == fault.Temporary || kind == fault.RateLimited {
		l.options.Failed(err)
		return created, err
	}
	l.err = err
	l.end()
	return created, err
}

// outcome returns the result after the pages ended. It waits for a Create in progress,
// because GitHub returns the key once.
func (l *local) outcome(ctx context.Context, listenErr error) (serverfile.StoredApp, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.stored != nil:
		return *l.stored, nil
	case l.err != nil:
		return serverfile.StoredApp{}, l.err
	case listenErr != nil:
		return serverfile.StoredApp{}, listenErr
	}
	return serverfile.StoredApp{}, context.Cause(ctx)
}

// describe returns the locations of everything that was stored.
func (l *local) describe(stored serverfile.StoredApp) Created {
	folder := l.creator.folder
	created := Created{
		App: stored, Forge: l.forge, Folder: string(folder), Key: folder.Path(serverfile.AppKeyFile),
		ClientSecret: folder.Path(serverfile.AppClientSecretFile),
	}
	if l.creator.page != github.PublicURL {
		created.URL = l.creator.page
	}
	if stored.Hook != "" {
		created.WebhookSecret = folder.Path(serverfile.AppHookSecretFile)
	}
	return created
}
