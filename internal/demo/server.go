package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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

// gitHost serves the bare repository on loopback to the service, which does not
// read local folders.
type gitHost struct {
	loopback *loopback
	git      githttp.Server
	mutex    sync.Mutex // serializes operations on branches
	refs     storer.ReferenceStorer
	now      func() time.Time
	moved    chan time.Time // when main was pushed to; only the last time is kept
}

// gitName is the name of the repository on that host.
const gitName = "acme/gitops"

func startGitHost(ctx context.Context, h *hub, now func() time.Time) (*gitHost, error) {
	g := &gitHost{refs: h.repository.Storer, now: now, moved: make(chan time.Time, 1)}
	g.git = githttp.Server{Storer: h.repository.Storer, Push: g.push}
	routes := http.NewServeMux()
	routes.Handle("/"+gitName+"/", g)
	var err error
	g.loopback, err = startLoopback(ctx, routes)
	return g, err
}

// ServeHTTP serializes requests.
func (g *gitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.git.ServeHTTP(w, r)
}

// push moves all branches from the positions that the pusher has seen, or none.
func (g *gitHost) push(_ context.Context, commands []*packp.Command) error {
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
		case <-g.moved:
		default:
		}
		g.moved <- g.now()
	}
	return nil
}
