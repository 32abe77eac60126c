package forgetest

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Fake is what a fake tells of itself.
type Fake struct {
	Name        string // of its package, for what a failed test says
	Now         func() time.Time
	ContentType string       // of its JSON
	MaxBody     int64        // of a request to the API, in bytes
	Finish      func(*Reply) // adds the headers of every answer; nil: none
}

// Front is where the requests to a fake come in. It has the lock of the whole fake:
// requests and the acts of people happen one at a time.
type Front struct {
	t    testing.TB
	fake Fake

	mu       sync.Mutex
	counts   map[string]int // by route
	watcher  func(route string)
	troubles []trouble
	limit    limit
}

// New returns the front of a fake that serves this test.
func New(t testing.TB, fake Fake) *Front { return &Front{t: t, fake: fake, counts: map[string]int{}} }

// Act runs f alone; an error that it panics with, as those of gittest, fails the
// test.
func (f *Front) Act(do func()) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := failure(do); err != nil {
		f.t.Fatal(err)
	}
}

// failure runs something and returns the error that it panics with.
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

// Serve carries out one request to the API, whose "METHOD /route" is known, and
// answers it. Trouble and a limit come before the handling.
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

// answer carries a request out, or lets trouble have its way.
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
