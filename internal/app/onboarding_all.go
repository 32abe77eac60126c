package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/workspace"
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
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.repository.Name, b.repository.Name) })
	if o.memory.kept() && len(all) > maxExamined {
		o.waiting += len(all) - maxExamined
		all = all[:maxExamined]
	}
	return all
}

// onboardAll opens onboarding pull requests for the repositories that were found without
// a config file. A failure of one does not affect others; tell is called with the result
// of each.
func onboardAll(ctx context.Context, session *connect.Session, o *onboarding, dryRun bool, tell func(r *connect.Repository, came *Onboarding, err error)) error {
	all := o.takeCandidates()
	if len(all) == 0 {
		return nil
	}
	byRepository := map[*connect.Repository]candidate{}
	var repositories []*connect.Repository
	for _, c := range all {
		byRepository[c.repository] = c
		repositories = append(repositories, c.repository)
	}
	apart, err := session.With(ctx, repositories)
	if err != nil {
		return err
	}
	var mutex sync.Mutex
	apart.Each(func(r *connect.Repository) {
		if ctx.Err() != nil {
			return
		}
		if o.full() {
			o.wait(1)
			return
		}
		came, err := onboardOne(ctx, apart, o, byRepository[r], dryRun)
		mutex.Lock()
		defer mutex.Unlock()
		if came != nil || err != nil {
			tell(r, came, err)
		}
	})
	return errors.Join(context.Cause(ctx), o.memory.save())
}

// onboardOne is what onboardAll does for one repository. No mirror is kept of those
// that have no pull request: most are no GitOps repositories.
func onboardOne(ctx context.Context, session *connect.Session, o *onboarding, c candidate, dryRun bool) (came *Onboarding, err error) {
	r := c.repository
	if r.Err != nil {
		return nil, r.Err
	}
	if r.Key() != c.key { // another one has the name now
		return nil, nil //nolint:nilnil // the next round lists it
	}
	err = workspace.Try(ctx, session, r, workspace.Options{DryRun: dryRun}, func(w *workspace.Workspace) error {
		if !mayOnboard(w, o) {
			return nil
		}
		a, err := newAsking(ctx, w, o)
		if err != nil || a == nil {
			return r.Advise(err)
		}
		came, err = a.offer(ctx)
		return r.Advise(err)
	})
	if came == nil || !came.stands() {
		err = errors.Join(err, workspace.Remove(context.WithoutCancel(ctx), session, string(c.key)))
	}
	o.memory.settle(c.key, c.mark, lasting(came, err), true)
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
