package load

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage/memory"

	"promoter/internal/demo/githttp"
	"promoter/internal/git/gittest"
)

// gitHost serves repositories from memory: thousands of folders and of processes of Git would
// be measured instead of promoter.
type gitHost struct {
	repositories map[string]*hosted // by the path, as in large/repository-1.git

	mu       sync.Mutex
	expected map[string]chan time.Time // who waits for a push, by the path
}

// hosted is one repository. Its requests come one after the other.
type hosted struct {
	mu     sync.Mutex
	server githttp.Server
}

func newGitHost() *gitHost {
	return &gitHost{repositories: map[string]*hosted{}, expected: map[string]chan time.Time{}}
}

// add makes a repository with these files on its branch main.
func (g *gitHost) add(tb testing.TB, name string, files map[string]string) {
	tb.Helper()
	objects := memory.NewStorage()
	clone := gittest.Clone{T: tb, Storer: objects}
	clone.Reference(plumbing.NewHashReference(plumbing.Main, clone.Commit(clone.Files(files))))
	clone.Reference(plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.Main))
	g.repositories[name] = &hosted{server: githttp.Server{Storer: objects, Push: func(_ context.Context, commands []*packp.Command) error {
		for _, one := range commands {
			if one.Action() == packp.Delete {
				if err := objects.RemoveReference(one.Name); err != nil {
					return err
				}
				continue
			}
			if err := objects.SetReference(plumbing.NewHashReference(one.Name, one.New)); err != nil {
				return err
			}
			if one.Name == plumbing.Main {
				g.pushed(name)
			}
		}
		return nil
	}}}
}

// expect returns a channel that receives the time of the next push to main of a repository.
func (g *gitHost) expect(name string) <-chan time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := make(chan time.Time, 1)
	g.expected[name] = at
	return at
}

func (g *gitHost) pushed(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, ok := g.expected[name]; ok {
		at <- time.Now()
		delete(g.expected, name)
	}
}

// ServeHTTP finds the repository, whose name has two segments.
func (g *gitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	segments := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	if len(segments) < 3 {
		http.NotFound(w, r)
		return
	}
	one, ok := g.repositories[segments[0]+"/"+segments[1]]
	if !ok {
		http.NotFound(w, r)
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.server.ServeHTTP(w, r)
}
