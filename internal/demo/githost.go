package demo

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// gitHost serves the bare repository on loopback to the service, which does not
// read local folders.
type gitHost struct {
	*loopback
	git   gitServer
	mutex sync.Mutex // serializes operations on branches
	refs  storer.ReferenceStorer
	now   func() time.Time
	moved chan time.Time // when main was pushed to; only the last time is kept
}

// gitName is the name of the repository on that host.
const gitName = "acme/gitops"

func startGitHost(ctx context.Context, h *hub, now func() time.Time) (*gitHost, error) {
	g := &gitHost{refs: h.repository.Storer, now: now, moved: make(chan time.Time, 1)}
	g.git = gitServer{storer: h.repository.Storer, bring: func(context.Context) error { return nil }, push: g.push}
	routes := http.NewServeMux()
	routes.Handle("GET /"+gitName+"/info/refs", g.alone(g.git.infoRefs))
	routes.Handle("POST /"+gitName+"/git-upload-pack", g.alone(g.git.uploadPack))
	routes.Handle("POST /"+gitName+"/git-receive-pack", g.alone(g.git.receivePack))
	var err error
	g.loopback, err = startLoopback(ctx, routes)
	return g, err
}

// alone serializes requests.
func (g *gitHost) alone(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mutex.Lock()
		defer g.mutex.Unlock()
		serve(w, r)
	})
}

// push moves all branches from the positions that the pusher has seen, or none.
func (g *gitHost) push(_ context.Context, commands []*packp.Command) error {
	for _, command := range commands {
		ref, err := g.refs.Reference(command.Name)
		if there := err == nil; there != (command.Old != plumbing.ZeroHash) || there && ref.Hash() != command.Old {
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
