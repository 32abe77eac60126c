package landing

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// This file decides how far back the history of each branch is needed, and reads the claims in
// it. Most reconciliations change nothing, and then need nothing.

// How far back history is read. A version cannot have landed anywhere before it was
// created. Where that time is unknown, and to find what a child may still promote, a
// month must be enough. The landing of the current version may be older.
const (
	recentHistory = 30 * 24 * time.Hour
	maxHistory    = 400 * 24 * time.Hour
	maxCommits    = 20_000 // of one walk
)

// historyNeed is what the plan needs from the history of one branch.
type historyNeed struct {
	since   time.Time
	targets map[promotion.Target]targetNeed // those to read about
}

// targetNeed is what the plan needs from the history of one target. What is read of it does not
// depend on other targets of the branch, although their history may be read further back.
type targetNeed struct {
	since   time.Time
	current bool // the landing of the current snapshot is needed too, however old it is
}

// historyNeeds returns what is needed by branch. Where nothing differs, it is nothing.
func historyNeeds(o Observed) map[string]*historyNeed {
	needs := map[string]*historyNeed{}
	for target, current := range o.Promotion.Selected() {
		if o.rollsBack(target) {
			addNeed(o, needs, target, maxHistory, true)
		}
		asked := o.Asked != nil && o.Asked(target)
		if asked || o.hasRejected(target) || o.Promotion.Config.Settings(target.Environment, target.Application).Health != nil {
			addNeed(o, needs, target, recentHistory, true)
		}
		if request := o.Promotion.State.At(state.Target(target)).Request; request != nil && len(request.With) > 0 {
			addNeed(o, needs, target, recentHistory, request.Posted != "") // it must not bring back what was reverted, or was there
		}
		parents := o.Promotion.ParentsOf(target)
		for _, parent := range parents {
			from := promotion.Target{Environment: parent.Environment, Application: target.Application}
			if !o.sameVersions(from, target) || current.RewritesForm() {
				addNeed(o, needs, target, recentHistory, false)
				addNeed(o, needs, from, max(recentHistory, 2*parent.Soak), true)
			}
		}
		if len(parents) > 0 {
			continue
		}
		for _, reference := range current.References {
			available := o.Promotion.Available[reference.Component]
			if available.Found && !promotion.SameRollout(available.Version, reference.Version()) {
				addNeed(o, needs, target, sinceCreated(available.Version, o.Now), false)
			}
		}
	}
	return needs
}

// sinceCreated returns how far back a version may have landed.
func sinceCreated(version image.Version, now time.Time) time.Duration {
	if !image.KnownCreated(version.Created) || !version.Created.Before(now) {
		return recentHistory
	}
	return min(now.Sub(version.Created)+24*time.Hour, maxHistory) // clocks differ
}

func addNeed(o Observed, needs map[string]*historyNeed, target promotion.Target, back time.Duration, current bool) {
	branch := o.Promotion.BaseOf(target)
	if o.Heads[branch] == "" {
		return
	}
	need, known := needs[branch]
	if !known {
		need = &historyNeed{since: o.Now, targets: map[promotion.Target]targetNeed{}}
		needs[branch] = need
	}
	of, known := need.targets[target]
	if since := o.Now.Add(-back); !known || since.Before(of.since) {
		of.since = since
	}
	of.current = of.current || current
	need.targets[target] = of
	if of.since.Before(need.since) {
		need.since = of.since
	}
}

// readLandings reads the landings on the branch. It fetches more history only if what is
// readable ends too early: first back to the time that is needed, then, if a current landing
// is not found, as far as any may be.
func (b branchHistory) readLandings(ctx context.Context, p prover, need *historyNeed) (map[promotion.Target]landings, error) {
	read, err := p.readClaims(b.name, need.targets, need.since)
	if err != nil {
		return nil, err
	}
	for _, since := range []time.Time{need.since, p.o.Now.Add(-maxHistory)} {
		if read.reached.IsZero() || !read.reached.After(since) || since != need.since && read.current {
			continue
		}
		if err := b.from.Remote.Deepen(ctx, b.name, since); err != nil {
			return nil, fmt.Errorf("deepen it: %w", err)
		}
		if read, err = p.readClaims(b.name, need.targets, since); err != nil {
			return nil, err
		}
	}
	claims, err := p.withRenamed(ctx, read.claims, need.targets)
	if err != nil {
		return nil, err
	}
	return p.verify(ctx, claims)
}

// claim is what the trailers of a commit state about one target.
type claim struct {
	promotion.Landed
	commit    string
	inherited bool // the trailers are those of a commit that it merged
	renamed   bool // the trailers name another target: only files that prove it make it a landing
}

// renamedClaims returns the claims of a commit about targets that are not read, as claims about those that are: trailers
// have the name that a target had then. With the config of now, no environment had another name.
func (p prover) renamedClaims(claims []claim, targets map[promotion.Target]targetNeed) (renamed []claim) {
	for _, c := range claims {
		if _, own := targets[c.Target]; own { // see withRenamed
			continue
		}
		if others := c.as(targets); len(others) > 0 && !p.hasConfigOfNow(c.commit) {
			renamed = append(renamed, others...)
		}
	}
	return renamed
}

// as returns a claim as one about each other target of its application.
func (c claim) as(targets map[promotion.Target]targetNeed) (renamed []claim) {
	for _, target := range sortedTargets(targets) {
		if target != c.Target && target.Application == c.Application {
			other := c
			other.Target, other.renamed = target, true
			renamed = append(renamed, other)
		}
	}
	return renamed
}

// readableClaims are the claims about targets in the first-parent history of a branch.
type readableClaims struct {
	claims  []claim   // newest first
	current bool      // the needed current landings are among them
	reached time.Time // to which it is readable; zero: to its beginning, or far enough
}

// readClaims reads as far back as each target needs. The dates of commits need not be in order,
// so the oldest date until now decides.
func (p prover) readClaims(branch string, targets map[promotion.Target]targetNeed, since time.Time) (readableClaims, error) {
	objects, o := p.from.Objects, p.o
	var read readableClaims
	missing := map[promotion.Target]bool{} // their current landings are needed
	for target, need := range targets {
		if need.current {
			missing[target] = true
		}
	}
	oldest := o.Now
	for commit, err := range repo.FirstParents(objects, o.Heads[branch], maxCommits) {
		if err != nil {
			return read, err
		}
		claims := claimsOf(objects, commit)
		for _, c := range claims {
			need, wanted := targets[c.Target]
			if !wanted || !missing[c.Target] && oldest.Before(need.since) {
				continue
			}
			read.claims = append(read.claims, c)
			if missing[c.Target] && o.isCurrent(c.Target, c.Snapshot) {
				delete(missing, c.Target)
			}
		}
		for _, c := range p.renamedClaims(claims, targets) {
			if missing[c.Target] || !oldest.Before(targets[c.Target].since) {
				read.claims = append(read.claims, c)
			}
		}
		if commit.Committer.When.Before(oldest) {
			oldest = commit.Committer.When
		}
		read.current = len(missing) == 0
		if commit.Shallow {
			read.reached = commit.Committer.When
			break
		}
		if commit.Committer.When.Before(since) && read.current {
			break
		}
	}
	return read, nil
}

// claimsOf reads the trailers of a commit. For a merge without any, it reads those of the
// merged commit.
func claimsOf(objects repo.Commits, commit repo.Commit) []claim {
	landed := promotion.ReadTrailers(commit.Trailers)
	inherited := len(landed) == 0 && len(commit.Parents) == 2
	if inherited {
		merged, err := objects.Commit(commit.Parents[1])
		if err != nil {
			return nil // not readable: then only the forge knows
		}
		landed = promotion.ReadTrailers(merged.Trailers)
	}
	claims := make([]claim, len(landed))
	for i := range landed {
		claims[i] = claim{Landed: landed[i], commit: commit.ID, inherited: inherited}
	}
	return claims
}
