package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// GitHub is a server with GitHub's API on this machine. It needs no Git
// endpoint, because the demo provides one.
type GitHub struct {
	// URL of the API, on loopback.
	URL string
	// Promoter and Person are the tokens of two accounts. The demo acts as the
	// second one for user actions.
	Promoter, Person secret.String
	// Variable names the environment variable with Promoter's token, for the
	// server's config file.
	Variable string
}

// github is the server with one repository of the demo. On loopback it looks
// like a GitHub Enterprise server: API requests are forwarded, and Git is
// served here.
type github struct {
	*loopback
	promoter, person account
	name             string // OWNER/NAME
	path             string // /repos/OWNER/NAME
	bridge           *bridge
	statuses         *statuses
	comments         *comments
	git              gitServer
	mutex            sync.Mutex // serializes operations on branches
}

// apiPath is the API path of a GitHub Enterprise server.
const apiPath = "/api/v3"

// openGitHub creates a repository on the server and serves Git for it.
func openGitHub(ctx context.Context, options GitHub, h *hub, now func() time.Time) (*github, error) {
	api, err := loopbackURL(options.URL)
	if err != nil {
		return nil, err
	}
	client, err := newClient(now)
	if err != nil {
		return nil, err
	}
	g := &github{
		promoter: account{client: client, api: api, token: options.Promoter},
		person:   account{client: client, api: api, token: options.Person},
	}
	if err := g.meet(ctx); err != nil {
		return nil, err
	}
	if err := g.create(ctx, now()); err != nil {
		return nil, err
	}
	g.statuses = &statuses{by: g.promoter.login, said: map[string][]body{}}
	g.comments = &comments{forge: g.promoter, reactions: map[string][]string{}}
	g.bridge = &bridge{forge: g.person, path: g.path, storer: h.repository.Storer, both: map[plumbing.Hash]bool{}}
	g.git = gitServer{storer: h.repository.Storer, bring: g.bridge.bring, push: g.bridge.push}
	if g.loopback, err = startLoopback(ctx, g.routes()); err != nil {
		return nil, errors.Join(err, g.remove(ctx))
	}
	h.address = g.url() + "/" + g.name + ".git"
	return g, nil
}

// loopbackURL rejects URLs of other machines, because the demo sends tokens to
// the server and creates and removes repositories there.
func loopbackURL(text string) (string, error) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", fault.New(fault.Invalid, "the URL of the forge is none: it is http://127.0.0.1:PORT, without user and query")
	}
	if ip := net.ParseIP(parsed.Hostname()); parsed.Hostname() != "localhost" && !ip.IsLoopback() {
		return "", fault.New(fault.Invalid, "the forge at %s is on another machine: the demo makes and removes repositories, so it works with a forge on this one only", parsed.Host)
	}
	return strings.TrimRight(parsed.String(), "/"), nil
}

// newClient returns a client that connects to loopback without rate limits.
func newClient(now func() time.Time) (*http.Client, error) {
	guarded, err := outbound.New(outbound.Options{
		AllowLoopback: true, Attempts: 1, Now: now,
		RateLimit: outbound.RateLimit{PerSecond: 10_000, Burst: 10_000},
	})
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport:     guarded,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// meet looks up the users of the tokens.
func (g *github) meet(ctx context.Context) error {
	for _, a := range []*account{&g.promoter, &g.person} {
		var user struct{ Login string }
		err := a.ask(ctx, "GET", "/user", nil, &user)
		if err == nil && user.Login == "" {
			err = errors.New("it does not say whose a token is")
		}
		var refused *statusError
		if errors.As(err, &refused) && (refused.status == http.StatusUnauthorized || refused.status == http.StatusForbidden) {
			return fault.New(fault.Invalid, "%w: check the tokens", err)
		}
		if err != nil {
			return fmt.Errorf("look for GitHub's API at %s: %w: check --forge-url; 'make demo-github' starts such a server", a.api, err)
		}
		a.login = user.Login
	}
	if strings.EqualFold(g.promoter.login, g.person.login) {
		return fault.New(fault.Invalid, "both tokens are of the account %s: a person's answers must be somebody else's than promoter's", g.person.login)
	}
	return nil
}

// create creates the user's repository, to which promoter may push.
func (g *github) create(ctx context.Context, now time.Time) error {
	name := "promoter-demo-" + now.UTC().Format("20060102-150405.000")
	var made struct {
		FullName string `json:"full_name"`
	}
	if err := g.person.ask(ctx, "POST", "/user/repos", body{"name": name}, &made); err != nil {
		return fmt.Errorf("make a repository: %w", err)
	}
	g.name, g.path = made.FullName, "/repos/"+made.FullName
	err := g.person.ask(ctx, "PUT", g.path+"/collaborators/"+g.promoter.login, body{"permission": "push"}, nil)
	if err != nil {
		return errors.Join(fmt.Errorf("prepare the repository %s: %w", g.name, err), g.remove(ctx))
	}
	return nil
}

// close stops the Git server and removes the repository unless it is kept.
func (g *github) close(ctx context.Context, keep bool) error {
	err := g.stop()
	if keep {
		return err
	}
	return errors.Join(err, g.remove(ctx))
}

// removeTimeout limits the cleanup, which an interrupt does not stop.
const removeTimeout = 10 * time.Second

// remove deletes the repository.
func (g *github) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := g.person.ask(ctx, "DELETE", g.path, nil, nil); err != nil {
		return fmt.Errorf("remove the repository %s: %w", g.name, err)
	}
	return nil
}

func (g *github) url() string { return "http://" + g.host }

func (g *github) routes() http.Handler {
	routes := http.NewServeMux()
	git := "/" + g.name + ".git"
	routes.Handle("GET "+git+"/info/refs", g.guarded(g.git.infoRefs))
	routes.Handle("POST "+git+"/git-upload-pack", g.guarded(g.git.uploadPack))
	routes.Handle("POST "+git+"/git-receive-pack", g.guarded(g.git.receivePack))
	routes.Handle(apiPath+"/", http.StripPrefix(apiPath, g.statuses.before(g.comments.before(g.api()))))
	return routes
}

// guarded admits requests with one of the tokens, one at a time.
func (g *github) guarded(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != g.promoter.token.Reveal() && password != g.person.token.Reveal() {
			w.Header().Set("WWW-Authenticate", `Basic realm="demo"`)
			http.Error(w, "one of the demo's tokens is needed as the password", http.StatusUnauthorized)
			return
		}
		g.mutex.Lock()
		defer g.mutex.Unlock()
		serve(w, r)
	})
}

// api forwards requests to the server.
func (g *github) api() http.Handler {
	target, _ := url.Parse(g.promoter.api) // validated before
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: g.promoter.client.Transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, outbound.Redact(err).Error(), http.StatusBadGateway)
		},
	}
}

// sync fetches changes from the server.
func (g *github) sync(ctx context.Context) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.bridge.bring(ctx)
}
