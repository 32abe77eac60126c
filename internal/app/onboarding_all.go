package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"promoter/internal/fault"
)

// takeCandidates hands out the repositories that were found without a config file,
// once, by name: those who wait are the same ones each time.
func (o *onboarding) takeCandidates() []candidate {
	if o == nil {
		return nil
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	all := o.candidates
	o.candidates = nil
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
	if o.memory.kept() && len(all) > maxExamined {
		o.waiting += len(all) - maxExamined
		all = all[:maxExamined]
	}
	return all
}

// onboardAll offers a config file to the repositories that were found without one.
// None stops another; tell is told what came of each that was looked at.
func (w *work) onboardAll(ctx context.Context, dryRun bool, tell func(r *repository, came *Onboarding, err error)) error {
	all := w.onboarding.takeCandidates()
	if len(all) == 0 {
		return nil
	}
	apart := &work{server: w.server, dir: w.dir, cache: w.cache, ways: w.ways, forges: w.forges, onboarding: w.onboarding}
	byRepository := map[*repository]candidate{}
	for _, c := range all {
		byRepository[c.repository] = c
		apart.repositories = append(apart.repositories, c.repository)
	}
	apart.each(func(r *repository) { r.open(ctx) })
	if err := apart.wireRegistries(); err != nil { // who may ask which registry rests on their names
		return err
	}
	var mutex sync.Mutex
	apart.each(func(r *repository) {
		if ctx.Err() != nil {
			return
		}
		if w.onboarding.full() {
			w.onboarding.wait(1)
			return
		}
		came, err := apart.onboardOne(ctx, byRepository[r], dryRun)
		mutex.Lock()
		defer mutex.Unlock()
		if came != nil || err != nil {
			tell(r, came, err)
		}
	})
	return errors.Join(context.Cause(ctx), w.onboarding.memory.save())
}

// onboardOne is what onboardAll does for one repository. No mirror is kept of those
// that have no pull request: most are no GitOps repositories.
func (w *work) onboardOne(ctx context.Context, c candidate, dryRun bool) (came *Onboarding, err error) {
	if c.err != nil {
		return nil, c.err
	}
	if info := c.scm.Info(); info.Key != c.key { // another one has the name now
		return nil, nil //nolint:nilnil // the next round lists it
	}
	err = w.survive(ctx, c.repository, func(l *lane) error {
		l.DryRun = dryRun
		if !l.mayOnboard(w.onboarding) {
			return nil
		}
		a, err := l.asking(ctx, w.onboarding)
		if err != nil || a == nil {
			return advised(err, c.repository)
		}
		came, err = a.offer(ctx)
		return advised(err, c.repository)
	})
	if came == nil || !came.stands() {
		err = errors.Join(err, os.RemoveAll(w.mirrorFolder(string(c.key))))
	}
	w.onboarding.memory.settle(c.key, c.mark, lasting(came, err), true)
	return came, err
}

// lasting is what to remember of an outcome. What is forbidden stays so for a while,
// and an empty repository has nothing to follow.
func lasting(came *Onboarding, err error) Onboarding {
	switch kind := fault.KindOf(err); {
	case kind == fault.Unauthorized || kind == fault.Invalid:
		return Onboarding{State: OnboardingLeft, Reason: err.Error()}
	case err != nil:
		return Onboarding{}
	case came == nil:
		return Onboarding{State: OnboardingNothing}
	}
	return *came
}

// waitingNote says how many repositories are left to the next pass; empty: none.
func (o *onboarding) waitingNote() string {
	if o == nil {
		return ""
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.waiting == 0 {
		return ""
	}
	return fmt.Sprintf("%d without %s wait in line: at most %d onboarding pull requests are opened in one pass", o.waiting, ConfigFile, maxOnboarded)
}
