package demo

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"promoter/internal/demo/githttp"
)

// loopback is an in-process server on loopback.
type loopback struct {
	host   string
	server *http.Server
	served chan error
}

func startLoopback(ctx context.Context, handler http.Handler) (*loopback, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	l := &loopback{
		host: listener.Addr().String(),
		server: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		},
		served: make(chan error, 1),
	}
	go func() { l.served <- l.server.Serve(listener) }()
	return l, nil
}

// stop stops the server and waits until it has stopped.
func (l *loopback) stop() error {
	err := l.server.Close()
	if served := <-l.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// gitHost serves the bare repository on loopback, and posts a webhook after each
// push, as Gitea does.
type gitHost struct {
	loopback *loopback
	git      githttp.Server
	mutex    sync.Mutex // serializes operations on branches
	refs     storer.ReferenceStorer
	now      func() time.Time
	moved    chan time.Time // when main was pushed to, as many as are read

	hook     hook
	webhooks []notified
}

// gitName is the name of the repository on that host.
const gitName = "acme/gitops"

func startGitHost(ctx context.Context, h *hub, now func() time.Time) (*gitHost, error) {
	g := &gitHost{refs: h.repository.Storer, now: now, moved: make(chan time.Time, 100)}
	g.git = githttp.Server{Storer: h.repository.Storer, Push: g.push}
	routes := http.NewServeMux()
	routes.Handle("/"+gitName+"/", g)
	routes.Handle("/"+gitName+".git/", g)
	var err error
	g.loopback, err = startLoopback(ctx, routes)
	return g, err
}

// url returns the URL of the repository.
func (g *gitHost) url() string { return "http://" + g.loopback.host + "/" + gitName }

// notifyTo starts sending webhooks to a URL, and forgets when main was pushed to.
func (g *gitHost) notifyTo(client *http.Client, to, secret string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.hook = hook{client, to, secret}
	for len(g.moved) > 0 {
		<-g.moved // of a push before
	}
}

// sent returns the webhooks in the order of the pushes.
func (g *gitHost) sent() []notified {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return slices.Clone(g.webhooks)
}

// ServeHTTP serializes requests.
func (g *gitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.git.ServeHTTP(w, r)
}

// push moves all branches from the positions that the pusher has seen, or none.
func (g *gitHost) push(ctx context.Context, commands []*packp.Command) error {
	for _, command := range commands {
		ref, err := g.refs.Reference(command.Name)
		if exists := err == nil; exists != (command.Old != plumbing.ZeroHash) || exists && ref.Hash() != command.Old {
			return fmt.Errorf("%s moved meanwhile", command.Name.Short())
		}
	}
	for _, command := range commands {
		if err := g.move(command); err != nil {
			return err
		}
	}
	g.notify(ctx)
	return nil
}

func (g *gitHost) move(command *packp.Command) error {
	if command.Action() == packp.Delete {
		return g.refs.RemoveReference(command.Name)
	}
	if err := g.refs.SetReference(plumbing.NewHashReference(command.Name, command.New)); err != nil {
		return err
	}
	if command.Name == mainBranch {
		select {
		case g.moved <- g.now():
		default:
		}
	}
	return nil
}

// notify posts the event of a push. A real server would retry.
//
// https://docs.gitea.com/usage/webhooks
func (g *gitHost) notify(ctx context.Context) {
	if g.hook.url == "" {
		return
	}
	sent := notified{repository: gitName, at: g.now()}
	pushed := payload{"repository": payload{"full_name": gitName, "clone_url": g.url()}}
	sent.status, sent.answer = g.hook.post(ctx, pushed, func(body []byte) map[string]string {
		signature := hmac.New(sha256.New, []byte(g.hook.secret))
		signature.Write(body)
		return map[string]string{
			"Content-Type":      "application/json",
			"X-Gitea-Event":     "push",
			"X-Gitea-Delivery":  fmt.Sprintf("push-%d", len(g.webhooks)+1),
			"X-Gitea-Signature": hex.EncodeToString(signature.Sum(nil)),
		}
	})
	g.webhooks = append(g.webhooks, sent)
}
