package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/database"
	"promoter/internal/store"
)

// sink is a response whose writes are received in order.
type sink struct {
	http.ResponseWriter
	written chan string
}

func (s sink) Write(b []byte) (int, error) {
	s.written <- string(b)
	return len(b), nil
}

func (s sink) Flush() {}

// A client gets the reconciliations that it may see, and nothing from before.
func TestChanges_stream(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	feed := &Changes{Store: store.New(db)}
	ctx, cancel := context.WithCancel(t.Context())
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	written := make(chan string, 10)
	c := echo.New().NewContext(request, sink{httptest.NewRecorder(), written})
	principal := access.Principal{Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: []string{"github.com/acme/shop"}}}
	ended := make(chan error, 1)
	go func() { ended <- feed.Stream(c, principal) }()
	if first := <-written; !strings.HasPrefix(first, "retry:") {
		t.Errorf("first: %q", first)
	}
	at := time.Now()
	shop := store.Repository{Key: "1", Host: "github.com", Name: "acme/shop", ReconciledAt: at}
	billing := store.Repository{Key: "2", Host: "github.com", Name: "acme/billing", ReconciledAt: at}
	feed.compare([]store.Repository{shop, billing})
	feed.compare([]store.Repository{shop, billing})
	if got := <-written; got != "event: reconciled\ndata: github.com/acme/shop\n\n" {
		t.Errorf("a new repository: %q", got)
	}
	shop.ReconciledAt = at.Add(time.Second)
	feed.compare([]store.Repository{shop, billing})
	if got := <-written; !strings.Contains(got, "acme/shop") {
		t.Errorf("again: %q", got)
	}
	cancel()
	if err := <-ended; err != nil || feed.hasClients() {
		t.Errorf("after the client left: %v, %v", err, feed.hasClients())
	}
	if len(written) > 0 {
		t.Errorf("more: %q", <-written)
	}
}
