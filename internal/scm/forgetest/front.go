// Package forgetest is the base of the fakes of the forges. A Hub is the model: accounts
// and repositories with their pull requests, comments, statuses and releases. Users act
// on it through Pulls, Settings and Branches. A Front executes requests one at a time,
// counts them, lets a test watch them, and applies the failures that a test injects;
// bodies are decoded strictly, replies are paginated and sent. Git requests use the same
// lock and get the same failures.
//
// The package is independent of any forge. Routes, messages, JSON, and how a push or a
// merge affects a pull request are defined by each fake, and gittest provides Git.
package forgetest

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"promoter/internal/git/gittest"
)

// Fake describes a fake.
type Fake struct {
	Name        string // of its package, for messages of failed tests
	Now         func() time.Time
	ContentType string       // of its JSON
	MaxBody     int64        // of a request to the API, in bytes
	Finish      func(*Reply) // adds headers to every reply; nil: none
}

// Front receives the requests to a fake. It has the lock of the whole fake: requests
// and user actions run one at a time.
type Front struct {
	t    testing.TB
	fake Fake

	mu       sync.Mutex
	counts   map[string]int // by route
	watcher  func(route string)
	wrap     func(http.Handler) http.Handler
	failures []injectedFailure
	limit    limit
}

// New returns the front of a fake that serves this test.
func New(t testing.TB, fake Fake) *Front { return &Front{t: t, fake: fake, counts: map[string]int{}} }

// Now returns the time of the fake.
func (f *Front) Now() time.Time { return f.fake.Now() }

// Act runs f exclusively; an error that f panics with, as gittest does, fails the
// test.
func (f *Front) Act(do func()) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := failure(do); err != nil {
		f.t.Fatal(err)
	}
}

// failure calls a function and returns the error that it panics with.
func failure(do func()) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case error:
			err = failed
		default:
			panic(failed)
		}
	}()
	do()
	return nil
}

// wrapped returns the handler of the server as a test wrapped it.
func (f *Front) wrapped(handler http.Handler) http.Handler {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrap == nil {
		return handler
	}
	return f.wrap(handler)
}

// Serve executes one request to the API, whose "METHOD /route" is known, and sends
// the reply. Injected failures and a rate limit take precedence.
func (f *Front) Serve(w http.ResponseWriter, r *http.Request, route string, handle func(body []byte) *Reply) {
	body, err := io.ReadAll(io.LimitReader(r.Body, f.fake.MaxBody))
	if err != nil {
		f.t.Errorf("%s: %s %s: %v", f.fake.Name, r.Method, r.URL, err)
		return
	}
	f.happen(route)
	answer, lose := f.answer(route, func() *Reply { return handle(body) })
	if lose {
		panic(http.ErrAbortHandler)
	}
	answer.send(w, f.fake.ContentType)
}

// answer executes a request, or applies an injected failure.
func (f *Front) answer(route string, handle func() *Reply) (answer *Reply, lose bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	met := f.meet(route)
	if answer = met.reply; answer == nil {
		answer = f.limited()
	}
	if answer == nil {
		answer, lose = f.carryOut(route, handle), met.lose
	}
	if f.fake.Finish != nil {
		f.fake.Finish(answer)
	}
	return answer, lose
}

func (f *Front) carryOut(route string, handle func() *Reply) (answer *Reply) {
	if err := failure(func() { answer = handle() }); err != nil {
		f.t.Errorf("%s: %s: %v", f.fake.Name, route, err)
		return Answer(http.StatusInternalServerError, map[string]string{"message": err.Error()})
	}
	return answer
}

// ServeGit serves NAME.git over smart HTTP. The fake authorizes a request, unless an
// injected failure comes first, and handles the effects of a push.
func (f *Front) ServeGit(git *gittest.Git, w http.ResponseWriter, r *http.Request, admit func(gittest.Visit) gittest.Admission) {
	git.Serve(w, r, func(visit gittest.Visit) gittest.Admission {
		f.happen(visit.Route())
		f.mu.Lock()
		defer f.mu.Unlock()
		met := f.meet(visit.Route())
		if met.reply != nil {
			return gittest.Admission{Refused: gittest.Refuse(met.reply.Status, "the server has an accident")}
		}
		said := admit(visit)
		said.Lose = met.lose
		if pushed := said.Pushed; pushed != nil {
			said.Pushed = func() { f.follow(pushed) }
		}
		return said
	})
}

// follow calls pushed after a push.
func (f *Front) follow(pushed func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := failure(pushed); err != nil {
		f.t.Errorf("%s: after a push: %v", f.fake.Name, err)
	}
}
