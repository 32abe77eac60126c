package app

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
	"time"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
	"promoter/internal/server"
)

// CreateOptions say which GitHub App is made from a person's machine.
type CreateOptions struct {
	Config       string // a server's file for url, networks and the forge; empty: none
	Forge        string // its name in the server's file; empty: github
	GitHub       string // the URL of the GitHub; empty: that of the forge in the file, or the public one
	Organization string // that it belongs to; empty: the person's own account
	Name         string // of the App; empty: one that is likely to be free
	URL          string // where GitHub reaches the service; empty: that of the file, or there is no webhook
	Folder       string // for its credentials
	Public       bool
	With         []string // permissions on request
	Networks     []string // private ones that may be dialed, without a file
	// Within is how long the person has. Zero: an hour, as long as GitHub gives.
	Within time.Duration
	Env    func(string) (string, bool)
	Now    func() time.Time
	Log    *slog.Logger
	// Opened is called with the address for the browser.
	Opened func(address string)
	// Failed is called with what went wrong and may be tried again in the browser.
	Failed func(error)
}

// CreatedApp is an App that was made, and where its credentials are.
type CreatedApp struct {
	App           connect.StoredApp
	Forge         string // its name in the server's file
	URL           string // of its GitHub; empty: the public one
	Folder        string // absolute
	Key           string // the file
	ClientSecret  string // the file
	WebhookSecret string // the file; empty: it has no webhook
}

// Defaults of CreateOptions.
const (
	DefaultAppFolder = "promoter-app"
	defaultForge     = "github"
	createWithin     = time.Hour
)

// CreateApp makes a GitHub App with the help of a person in a browser on this
// machine, and keeps its credentials.
func CreateApp(ctx context.Context, options CreateOptions) (created CreatedApp, err error) {
	maker, err := newCreator(options)
	if err != nil {
		return CreatedApp{}, err
	}
	fresh, err := maker.check()
	defer func() {
		if fresh && err != nil {
			_ = os.Remove(string(maker.folder)) // it stays if something is in it
		}
	}()
	if err != nil {
		return CreatedApp{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(options.Within, createWithin), errTooLate)
	defer cancel()
	kept, err := maker.run(ctx, cancel)
	if err != nil {
		return CreatedApp{}, err
	}
	return maker.created(kept), nil
}

var errTooLate = fault.New(fault.Invalid, "nobody finished in the browser within the time: nothing was written; run it again")

// creator makes one App for a person.
type creator struct {
	*appMaker
	options CreateOptions
	forge   string

	made connect.StoredApp
	done bool
	fail error // that ends it
}

// newCreator finds out what is wanted, without asking anybody.
func newCreator(options CreateOptions) (*creator, error) {
	s, err := creating(options)
	if err != nil {
		return nil, err
	}
	forge := cmp.Or(options.Forge, defaultForge)
	if !config.ValidName(forge) { // the server's file would refuse it, when the App is there
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
	maker, err := newAppMaker(connections, cmp.Or(options.GitHub, known.URL, github.PublicURL))
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(cmp.Or(options.Folder, DefaultAppFolder))
	if err != nil {
		return nil, err
	}
	maker.folder, maker.organization = connect.AppFolder(folder), options.Organization
	address, err := reachable(cmp.Or(options.URL, s.File.URL))
	if err != nil {
		return nil, err
	}
	maker.manifest = github.ManifestOptions{
		Name: cmp.Or(options.Name, appName(options.Organization, address)), Homepage: cmp.Or(address, maker.page),
		Public: options.Public, With: options.With,
	}
	if address != "" {
		maker.manifest.Hook = address + hookPath(forge)
	}
	return &creator{appMaker: maker, options: options, forge: forge}, nil
}

// reachable is an address at which GitHub can post webhooks; empty: there is none.
func reachable(address string) (string, error) {
	parsed, err := url.Parse(address)
	web := err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != "" && parsed.User == nil
	switch {
	case address == "":
		return "", nil
	case !web || parsed.RawQuery != "" || parsed.Fragment != "":
		return "", fault.New(fault.Invalid, "--url: write https://HOST, where GitHub reaches promoter serve")
	case parsed.Hostname() == "localhost" || net.ParseIP(parsed.Hostname()).IsLoopback():
		return "", fault.New(fault.Invalid, "--url %s: GitHub does not reach this machine under that name: write the one that others use, or leave it out", address)
	}
	return strings.TrimRight(address, "/"), nil
}

// creating is the server's file of the options, or an empty one.
func creating(options CreateOptions) (*connect.Server, error) {
	from := connect.Options{Config: options.Config, Networks: options.Networks, Env: options.Env, Now: options.Now}
	if options.Config == "" {
		return connect.WithoutFile(from)
	}
	if len(options.Networks) > 0 {
		return nil, fault.New(fault.Invalid, "--network is for who has no server's file: write networks in %s", options.Config)
	}
	return connect.OpenFile(from)
}

// run answers the browser until the App is made or cannot be.
func (c *creator) run(ctx context.Context, end context.CancelFunc) (connect.StoredApp, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return connect.StoredApp{}, fmt.Errorf("listen for the browser: %w", err)
	}
	host, word := listener.Addr().String(), rand.Text()+rand.Text()
	c.manifest.Redirect = "http://" + host + server.SetupCallbackPath(c.forge)
	c.kept = c.appKept
	pages, err := server.NewSetupServer(server.Options{
		Setups: []*server.Setup{{Name: c.forge, Secret: secret.New(word), Creator: &once{c, end}}}, Log: c.options.Log, Now: c.options.Now,
	}, host)
	if err != nil {
		return connect.StoredApp{}, errors.Join(err, listener.Close())
	}
	c.options.Opened("http://" + host + server.SetupPath(c.forge, word))
	return c.outcome(ctx, pages.Listen(ctx, listener, drainFor))
}

// appKept ends the work well, while Make still holds the lock.
func (c *creator) appKept(kept connect.StoredApp) []string {
	c.made, c.done = kept, true
	return []string{"The credentials are in " + string(c.folder) + ".", "The terminal shows the lines for the server's file. This page can be closed."}
}

// outcome is what came of it all when the pages ended. Whoever fetches the key at that
// moment is waited for, which the way out bounds: GitHub shows it once.
func (c *creator) outcome(ctx context.Context, listened error) (connect.StoredApp, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.done:
		return c.made, nil
	case c.fail != nil:
		return connect.StoredApp{}, c.fail
	case listened != nil:
		return connect.StoredApp{}, listened
	}
	return connect.StoredApp{}, context.Cause(ctx)
}

// once ends the creator when its App was made, or when that failed for good.
type once struct {
	*creator
	end context.CancelFunc
}

// Create implements server.Maker.
func (o *once) Create(ctx context.Context, code string) (server.CreatedApp, error) {
	made, err := o.creator.Create(ctx, code)
	if kind := fault.KindOf(err); kind == fault.Temporary || kind == fault.RateLimited {
		o.options.Failed(err)
		return made, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = err
	o.end()
	return made, err
}

// created says where everything is.
func (c *creator) created(kept connect.StoredApp) CreatedApp {
	created := CreatedApp{
		App: kept, Forge: c.forge, Folder: string(c.folder), Key: c.folder.Path(connect.AppKeyFile), ClientSecret: c.folder.Path(connect.AppClientSecretFile),
	}
	if c.page != github.PublicURL {
		created.URL = c.page
	}
	if kept.Hook != "" {
		created.WebhookSecret = c.folder.Path(connect.AppHookSecretFile)
	}
	return created
}
