package api

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/store"
)

// Changes reports to clients which repositories were reconciled. One poll of the database
// serves all of them, and there is none without a client. It also sees what other replicas do.
//
// All clients read one list of the repositories in the order of their last changes, each from its own position, so that
// a client costs its connection and no more. A repository that changed again is in the list once: a client that is slow
// misses nothing but repetitions, however much others do that it may not see.
type Changes struct {
	Store Reconciled
	Log   *slog.Logger
	Every time.Duration // between polls; zero: 2 seconds
	// Limited, if set, is called when a limit refuses a stream.
	Limited func(limit string)
	// Opened, if set, is called with the number of open streams when it changes.
	Opened func(open int)

	mutex       sync.Mutex
	open        int
	byPrincipal map[string]int // open streams
	byAddress   map[netip.Addr]int
	known       []reconciled  // in the order of their last changes, while there are streams
	count       int           // of all changes so far
	changed     chan struct{} // is closed with the next change, and at the end
	ended       bool
}

// Reconciled reads the repositories that were reconciled.
type Reconciled interface {
	Repositories(ctx context.Context) ([]store.Repository, error)
}

// reconciled is a repository, and when it was last reconciled.
type reconciled struct {
	key, name string // name: HOST/OWNER/NAME
	at        time.Time
	change    int // its last change, counted from 1; 0: none since the first stream was opened
}

// changeEvery is how often the database is asked by default.
const changeEvery = 2 * time.Second

// Limits of the streams that are open at the same time. Public ones leave room for those of
// principals that the server file names, and a principal for those of others: it may have maxShare of what is left.
const (
	maxStreams             = 1000
	maxPublicStreams       = 500
	maxStreamsPerPrincipal = 100
	maxStreamsPerAddress   = 100
	maxShare               = 5 // one fifth
)

const (
	// changesAtOnce is how many changes are sent to a client in one write.
	changesAtOnce = 100
	// eventTimeout is how long a client may take to receive one write.
	eventTimeout = 10 * time.Second
)

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
			f.end()
			return nil
		case <-ticker.C:
		}
		if f.Streams() == 0 {
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

// Streams returns how many streams are open.
func (f *Changes) Streams() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.open
}

// compare reports the repositories that were reconciled since the last time.
func (f *Changes) compare(repositories []store.Repository) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before, count := map[string]reconciled{}, f.count
	for _, one := range f.known {
		before[one.key] = one
	}
	f.known = reconciledOf(repositories)
	for i := range f.known {
		now := &f.known[i]
		then, known := before[now.key]
		if now.change = then.change; !known || !then.at.Equal(now.at) {
			f.count++
			now.change = f.count
		}
	}
	slices.SortStableFunc(f.known, func(a, b reconciled) int { return cmp.Compare(a.change, b.change) })
	if f.count > count {
		f.wake()
	}
}

// wake is called with the lock held.
func (f *Changes) wake() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (f *Changes) end() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.ended = true
	f.wake()
}

func reconciledOf(repositories []store.Repository) []reconciled {
	all := make([]reconciled, len(repositories))
	for i, one := range repositories {
		all[i] = reconciled{key: one.Key, name: one.Host + "/" + one.Name, at: one.ReconciledAt}
	}
	return all
}

const (
	tooManyStreams      = "too many streams of changes are open"
	tooManyStreamsOfOne = "this user, token, or address has too many open streams of changes"
)

// join opens a stream, which sees every change after the position. Readable is whether the principal
// may read any of the repositories: otherwise there is no stream, also where there is no repository.
func (f *Changes) join(ctx context.Context, principal access.Principal, address netip.Addr) (position int, readable bool, err error) {
	var repositories []store.Repository
	if f.Streams() == 0 {
		if repositories, err = f.Store.Repositories(ctx); err != nil {
			return 0, false, err
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.byPrincipal == nil {
		f.byPrincipal, f.byAddress = map[string]int{}, map[netip.Addr]int{}
	}
	if f.open == 0 && repositories != nil { // otherwise another stream was open a moment ago
		f.known = reconciledOf(repositories)
	}
	if !f.readsAny(principal) {
		return 0, false, nil
	}
	ofPrincipal := max(1, min(maxStreamsPerPrincipal, (maxStreams-f.open)/maxShare))
	if principal.Name == access.PublicName {
		ofPrincipal = maxPublicStreams
	}
	switch {
	case f.open >= maxStreams:
		err = echo.NewHTTPError(http.StatusServiceUnavailable, tooManyStreams)
	case f.byPrincipal[principal.Name] >= ofPrincipal, f.byAddress[address] >= maxStreamsPerAddress:
		err = echo.NewHTTPError(http.StatusTooManyRequests, tooManyStreamsOfOne)
	}
	if err != nil {
		f.limited()
		return 0, false, err
	}
	f.byPrincipal[principal.Name]++
	f.byAddress[address]++
	f.setOpen(f.open + 1)
	return f.count, true, nil
}

// setOpen is called with the lock held.
func (f *Changes) setOpen(open int) {
	f.open = open
	if f.Opened != nil {
		f.Opened(open)
	}
}

func (f *Changes) limited() {
	if f.Limited != nil {
		f.Limited("streams")
	}
}

// readsAny reports whether a principal may read any of the known repositories, or all that there will be.
func (f *Changes) readsAny(principal access.Principal) bool {
	readable := principal.ReadFilter()
	if readable == nil {
		return true
	}
	for _, one := range f.known {
		if readable(one.name, "", "") {
			return true
		}
	}
	return false
}

func (f *Changes) leave(principal access.Principal, address netip.Addr) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.setOpen(f.open - 1)
	if f.byPrincipal[principal.Name]--; f.byPrincipal[principal.Name] == 0 {
		delete(f.byPrincipal, principal.Name)
	}
	if f.byAddress[address]--; f.byAddress[address] == 0 {
		delete(f.byAddress, address)
	}
}

// since returns some of the repositories that changed after a position, the position after them, and what is closed with
// the next change. It reports false at the end.
func (f *Changes) since(position int) (names []string, after int, changed <-chan struct{}, more bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.ended {
		return nil, position, nil, false
	}
	first := sort.Search(len(f.known), func(i int) bool { return f.known[i].change > position })
	for _, one := range f.known[first:min(len(f.known), first+changesAtOnce)] {
		names, position = append(names, one.name), one.change
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return names, position, f.changed, true
}

// keepAlive is how often a comment is sent, so that proxies do not close the connection.
const keepAlive = 15 * time.Second

// Stream sends a server-sent event for each reconciled repository that the principal may
// read, until the client leaves. Its data is HOST/OWNER/NAME. A principal that may read none gets
// 204, after which browsers do not connect again.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (f *Changes) Stream(c echo.Context, principal access.Principal) error {
	address := SourceOf(c.RealIP())
	position, readable, err := f.join(c.Request().Context(), principal, address)
	if err != nil {
		return err
	}
	if !readable {
		return c.NoContent(http.StatusNoContent)
	}
	defer f.leave(principal, address)
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx
	events := eventWriter{c.Response(), http.NewResponseController(c.Response())}
	c.Response().WriteHeader(http.StatusOK)
	defer events.limit() // net/http writes the end of the response
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for sent := events.send("retry: 5000\n\n"); sent; {
		names, after, changed, more := f.since(position)
		if !more {
			return nil
		}
		position = after
		if text := eventsOf(names, principal); text != "" {
			sent = events.send(text)
		}
		if len(names) > 0 {
			continue
		}
		select {
		case <-c.Request().Context().Done():
			return nil
		case <-alive.C:
			sent = events.send(": alive\n\n")
		case <-changed:
		}
	}
	return nil // the client left, or does not read
}

// eventsOf returns the events of the repositories that a principal may read.
func eventsOf(names []string, principal access.Principal) string {
	var text strings.Builder
	for _, name := range names {
		if principal.May(access.Read, access.Target{Repository: name}) {
			text.WriteString("event: reconciled\ndata: " + name + "\n\n")
		}
	}
	return text.String()
}

// eventWriter writes to a connection that stays open longer than other responses may take. Each
// write has its own deadline instead.
type eventWriter struct {
	response *echo.Response
	control  *http.ResponseController
}

// limit sets the deadline of the next write.
func (w eventWriter) limit() {
	_ = w.control.SetWriteDeadline(time.Now().Add(eventTimeout)) //nolint:forbidigo // connections have this clock
}

// send reports whether the client received the text, or at least its connection did.
func (w eventWriter) send(text string) bool {
	w.limit()
	_, err := io.WriteString(w.response, text)
	sent := err == nil && w.control.Flush() == nil
	_ = w.control.SetWriteDeadline(time.Time{}) // with HTTP/2, it would end the stream while nothing is written
	return sent
}

func (a *API) changes(c echo.Context) error {
	if _, err := Parameters(c); err != nil {
		return err
	}
	return a.Changes.Stream(c, principalOf(c))
}
