package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/store"
)

// Changes reports to clients which repositories were reconciled. One poll of the database
// serves all of them, and there is none without a client. It also sees what other replicas do.
type Changes struct {
	Store *store.Store
	Log   *slog.Logger
	Every time.Duration // between polls; zero: 2 seconds

	mutex   sync.Mutex
	clients map[chan store.Repository]bool
	known   map[string]time.Time // when each repository was last reconciled, while there are clients
}

// changeEvery is how often the database is asked by default.
const changeEvery = 2 * time.Second

// maxClients limits the clients that listen at the same time.
const maxClients = 1000

// buffered is how many changes a slow client may miss before it is disconnected. It connects
// again, and reads everything.
const buffered = 1000

// Run reports changes until the context ends.
func (f *Changes) Run(ctx context.Context) error {
	every := f.Every
	if every == 0 {
		every = changeEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			f.closeAll()
			return nil
		case <-ticker.C:
		}
		if !f.hasClients() {
			continue
		}
		repositories, err := f.Store.Repositories(ctx)
		if err != nil {
			f.Log.DebugContext(ctx, "changes not read", slog.Any("error", err))
			continue
		}
		f.compare(repositories)
	}
}

func (f *Changes) hasClients() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.clients) > 0
}

// compare reports the repositories that were reconciled since the last time.
func (f *Changes) compare(repositories []store.Repository) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before := f.known
	f.known = timesOf(repositories)
	for _, one := range repositories {
		if at, known := before[one.Key]; !known || !at.Equal(one.ReconciledAt) {
			f.report(one)
		}
	}
}

func timesOf(repositories []store.Repository) map[string]time.Time {
	times := make(map[string]time.Time, len(repositories))
	for _, one := range repositories {
		times[one.Key] = one.ReconciledAt
	}
	return times
}

// report is called with the lock held.
func (f *Changes) report(repository store.Repository) {
	for client := range f.clients {
		select {
		case client <- repository:
		default: // too slow
			delete(f.clients, client)
			close(client)
		}
	}
}

func (f *Changes) closeAll() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for client := range f.clients {
		close(client)
	}
	f.clients = nil
}

// join adds a client. It sees every change from now on.
func (f *Changes) join(ctx context.Context) (client chan store.Repository, err error) {
	repositories, err := f.Store.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch {
	case len(f.clients) >= maxClients:
		return nil, echo.NewHTTPError(http.StatusServiceUnavailable, "too many clients listen")
	case len(f.clients) == 0:
		f.clients, f.known = map[chan store.Repository]bool{}, timesOf(repositories)
	}
	client = make(chan store.Repository, buffered)
	f.clients[client] = true
	return client, nil
}

func (f *Changes) leave(client chan store.Repository) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.clients, client)
}

// keepAlive is how often a comment is sent, so that proxies do not close the connection.
const keepAlive = 15 * time.Second

// Stream sends a server-sent event for each reconciled repository that the principal may
// read, until the client leaves. Its data is HOST/OWNER/NAME.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (f *Changes) Stream(c echo.Context, principal access.Principal) error {
	client, err := f.join(c.Request().Context())
	if err != nil {
		return err
	}
	defer f.leave(client)
	// The connection stays open longer than other responses may take.
	control := http.NewResponseController(c.Response())
	_ = control.SetWriteDeadline(time.Time{}) // not supported in tests
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx
	c.Response().WriteHeader(http.StatusOK)
	send := func(text string) error {
		if _, err := fmt.Fprint(c.Response(), text); err != nil {
			return err
		}
		c.Response().Flush()
		return nil
	}
	if err := send("retry: 5000\n\n"); err != nil {
		return nil // the client left
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		text := ": alive\n\n"
		select {
		case <-c.Request().Context().Done():
			return nil
		case <-alive.C:
		case repository, open := <-client:
			if !open {
				return nil
			}
			name := repository.Host + "/" + repository.Name
			if !principal.May(access.Read, access.Target{Repository: name}) {
				continue
			}
			text = "event: reconciled\ndata: " + name + "\n\n"
		}
		if err := send(text); err != nil {
			return nil // the client left
		}
	}
}

func (a *API) changes(c echo.Context) error {
	if _, err := Parameters(c); err != nil {
		return err
	}
	return a.Changes.Stream(c, principalOf(c))
}
