package app

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"promoter/internal/connect"
	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/onboarding"
	"promoter/internal/store"
)

// rounds hands out the present round of work of a service. A round is made anew
// with each poll; an older one ends when the last look that uses it does.
type rounds struct {
	connections *connect.Connections
	clock       func() time.Time
	folder      string
	store       *store.Store
	log         *slog.Logger

	started atomic.Bool // this process polled

	making sync.Mutex // one round is made at a time
	mu     sync.Mutex
	now    *round
	old    bool // what it was made from has changed since
}

// round is one round of work with what is shared in it.
type round struct {
	session    *connect.Session
	onboarding *onboarding.Batch
	byKey      map[string]*connect.Repository
	began      time.Time
	made       time.Time // when it could be used

	users   int  // guarded by rounds.mu
	retired bool // guarded by rounds.mu

	mu     sync.Mutex
	heeded map[event.Image]time.Time // the hints by which answers were dropped
	asked  time.Time                 // when failures were dropped last
}

// failuresFor is how long a failure is the answer for all looks: to ask a registry
// that is away takes a minute, and others wait meanwhile.
const failuresFor = 30 * time.Second

// use returns the present round, and makes one if there is none, or if it is too old:
// of several replicas, one alone polls. The caller releases it.
func (r *rounds) use(ctx context.Context) (*round, func(), error) {
	taken, before := r.take(), time.Time{}
	if taken != nil {
		if age := r.age(); age <= r.connections.Server.File.Poll*5/4 {
			return taken, func() { r.release(taken) }, nil
		}
		before = taken.began
		r.release(taken)
	}
	if err := r.renew(ctx, before); err != nil {
		return nil, nil, err
	}
	taken = r.take()
	return taken, func() { r.release(taken) }, nil
}

// betweenRounds is how long a round lasts at least, whatever is hinted: each asks for
// every repository.
const betweenRounds = time.Minute

// age is that of the present round; zero: there is none.
func (r *rounds) age() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return 0
	}
	if r.old {
		return math.MaxInt64
	}
	return max(r.clock().Sub(r.now.made), 1)
}

// outdate has the next who needs a round make one.
func (r *rounds) outdate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.old = true
}

func (r *rounds) take() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		r.now.users++
	}
	return r.now
}

func (r *rounds) release(taken *round) {
	r.mu.Lock()
	taken.users--
	over := taken.retired && taken.users == 0
	r.mu.Unlock()
	if over {
		r.end(taken)
	}
}

// renew makes a new round unless one was made after the time.
func (r *rounds) renew(ctx context.Context, after time.Time) error {
	r.making.Lock()
	defer r.making.Unlock()
	r.mu.Lock()
	fresh := r.now != nil && !r.old && r.now.began.After(after)
	old := r.old
	r.old = false // what is changed from here on outdates it again
	r.mu.Unlock()
	if fresh {
		return nil
	}
	made, err := r.begin(ctx)
	if err != nil {
		if old {
			r.outdate()
		}
		return err
	}
	r.replace(made)
	return nil
}

func (r *rounds) begin(ctx context.Context) (*round, error) {
	began := r.clock()
	session, err := r.connections.Open(ctx, r.folder)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // what could not be opened says nothing then
		return nil, errors.Join(context.Cause(ctx), session.Close())
	}
	made := &round{
		session: session, onboarding: onboarding.NewBatch(session),
		byKey: map[string]*connect.Repository{}, began: began, made: r.clock(), heeded: map[event.Image]time.Time{},
	}
	for _, note := range session.Notes {
		r.log.InfoContext(ctx, note)
	}
	for _, one := range session.Repositories {
		if one.SCM == nil {
			r.log.WarnContext(ctx, "a repository cannot be opened", slog.String("repository", one.Name), slog.Any("error", one.Err))
			continue
		}
		made.byKey[string(one.Key())] = one
	}
	return made, nil
}

func (r *rounds) replace(made *round) {
	r.mu.Lock()
	old := r.now
	r.now = made
	over := old != nil && old.users == 0
	if old != nil {
		old.retired = true
	}
	r.mu.Unlock()
	if over {
		r.end(old)
	}
}

// end keeps what the round learnt.
func (r *rounds) end(over *round) {
	if err := over.session.Close(); err != nil {
		r.log.Warn("what was learnt of registries is not kept", slog.Any("error", err))
	}
}

// flush keeps what a look learnt: a process that ends before its round does would ask
// again.
func (r *rounds) flush(in *round) {
	if err := in.session.Flush(); err != nil {
		r.log.Warn("what was learnt of registries is not kept", slog.Any("error", err))
	}
}

// close ends the present round. Nobody uses it any more.
func (r *rounds) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return nil
	}
	last := r.now
	r.now = nil
	return last.session.Close()
}

// unopened says why a repository of a forge could not be opened, if that may pass:
// then it is not known which repositories the round lacks. Of no name: of any forge.
func (r *round) unopened(forge string) error {
	for _, one := range r.session.Repositories {
		ours := forge == "" || one.Forge.Config.Name == forge
		if ours && one.SCM == nil && fault.KindOf(one.Err) != fault.NotFound {
			return one.Err
		}
	}
	return nil
}

// heed drops what the round heard of images before they were hinted at, and now and
// then all failures.
func (r *round) heed(hinted []store.ImageEvent, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []event.Image
	for _, one := range hinted {
		if one.At.After(r.heeded[one.Image]) {
			r.heeded[one.Image] = one.At
			fresh = append(fresh, one.Image)
		}
	}
	if len(fresh) == 0 && now.Sub(r.asked) < failuresFor {
		return
	}
	r.asked = now
	r.session.ForgetAnswers(func(asked image.Repository) bool {
		for _, said := range fresh {
			if said.Matches(asked) {
				return true
			}
		}
		return false
	})
}
