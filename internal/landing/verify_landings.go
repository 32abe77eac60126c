package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// This file proves claims: it compares the files of a commit with those of its first parent.

const (
	// maxVerified is how many commits of a branch are read in one reconciliation, newest
	// first. The verdicts are remembered, and the next one continues.
	maxVerified = 2000
	chunkSize   = 100
	// maxParsed is how many bytes of files are parsed for that.
	maxParsed = 64 << 20
	// maxFalse is how many false claims about a target are reported.
	maxFalse = 3
)

// landing is a landing in the history of a branch.
type landing struct {
	promotion.Landing
	proven  bool // otherwise nothing contradicts it either, and it only restricts
	undated bool // only the files of now prove it
	ours    bool

	attribution promotion.Attribution
	unproven    []string // parts of the attribution
}

// landings are those in one target, newest first, and the claims that files contradict.
type landings struct {
	found     []landing
	falsified []promotion.Reason
}

// all returns all landings.
func (l landings) all() []promotion.Landing {
	all := make([]promotion.Landing, len(l.found))
	for i := range l.found {
		all[i] = l.found[i].Landing
	}
	return all
}

// proven returns the landings that the files of their commits prove.
func (l landings) proven() []promotion.Landing {
	var proven []promotion.Landing
	for _, one := range l.found {
		if one.proven {
			proven = append(proven, one.Landing)
		}
	}
	return proven
}

// prover proves claims by the files of their commits.
type prover struct {
	from Reader
	o    Observed
}

// verify verifies the claims of one branch, which are sorted from the newest to the oldest.
func (p prover) verify(ctx context.Context, claims []claim) (map[promotion.Target]landings, error) {
	verdicts, err := p.verdicts(ctx, claims)
	if err != nil {
		return nil, err
	}
	verified := map[promotion.Target]landings{}
	for _, c := range claims {
		v, read := verdicts[claimKey(p.from.Past, c)]
		l := landing{
			Landing:     promotion.Landing{Commit: c.commit, Snapshot: c.Snapshot},
			proven:      v.Proven,
			ours:        v.Ours,
			attribution: c.Attribution,
			unproven:    v.unproven(c.Attribution),
		}
		of := verified[c.Target]
		switch {
		case c.renamed && (!v.Proven || slices.ContainsFunc(of.found, func(l landing) bool { return l.Commit == c.commit })):
		case v.Why != "" && len(of.falsified) < maxFalse:
			of.falsified = append(of.falsified, promotion.FalseClaim(v.Why))
		case v.Proven:
			l.Before = v.before()
			if len(v.Missing) > 0 {
				l.Snapshot = v.without(c.Snapshot)
			}
			of.found = append(of.found, l)
		case !read, v.Unknown:
			// The versions are there now, so they landed at some time.
			l.undated = p.o.isCurrent(c.Target, c.Snapshot)
			l.proven = l.undated
			of.found = append(of.found, l)
		}
		verified[c.Target] = of
	}
	return verified, nil
}

// withRenamed adds claims about other targets for those that the files of their target do not prove: two targets may have
// swapped their names since.
func (p prover) withRenamed(ctx context.Context, claims []claim, targets map[promotion.Target]targetNeed) ([]claim, error) {
	verdicts, err := p.verdicts(ctx, claims)
	if err != nil {
		return nil, err
	}
	all := make([]claim, 0, len(claims))
	for _, c := range claims {
		all = append(all, c)
		if v, read := verdicts[claimKey(p.from.Past, c)]; read && !c.renamed && !v.Proven {
			all = append(all, c.as(targets)...)
		}
	}
	return all, nil
}

// verdicts returns the verdicts about claims by key. What is not remembered is read, as far
// as the limits permit.
func (p prover) verdicts(ctx context.Context, claims []claim) (map[string]verdict, error) {
	verdicts := map[string]verdict{}
	unread := map[string][]claim{} // by commit
	var commits []string
	for _, c := range claims {
		if v, found := p.from.verdictOf(c); found {
			verdicts[claimKey(p.from.Past, c)] = v
			continue
		}
		if unread[c.commit] == nil {
			commits = append(commits, c.commit)
		}
		unread[c.commit] = append(unread[c.commit], c)
	}
	var fresh []judgment
	err := p.judgeAll(ctx, commits[:min(len(commits), maxVerified)], unread, func(commit repo.Commit, c claim, v verdict) {
		verdicts[claimKey(p.from.Past, c)] = v
		if !commit.Shallow { // its parents may be readable later
			fresh = append(fresh, judgment{c, v})
		}
		if v.Why != "" {
			p.from.Log.WarnContext(ctx, "false claim in trailers", slog.String("claim", v.Why))
		}
	})
	p.from.keep(ctx, fresh) // also after an error: the next reconciliation continues
	return verdicts, err
}

// judgeAll judges the claims of commits, which are sorted from the newest to the oldest. A
// commit that exceeds a limit remains unread, so that no user can stop the others with it.
func (p prover) judgeAll(ctx context.Context, commits []string, claims map[string][]claim, judged func(repo.Commit, claim, verdict)) error {
	// Its own budget: what follows is more important than how far this comes.
	limited := budget.With(ctx, ownBudget(maxParsed))
	for chunk := range slices.Chunk(commits, chunkSize) {
		// One scan continues from the one before, and the next reconciliation from the newest.
		for _, id := range slices.Backward(chunk) {
			commit, err := p.from.Objects.Commit(id)
			if err != nil {
				return err
			}
			verdicts, err := p.judge(limited, commit, claims[id])
			switch {
			case errors.Is(err, budget.ErrExceeded):
				return nil
			case fault.KindOf(err) == fault.Invalid:
				continue
			case err != nil:
				return err
			}
			for i, c := range claims[id] {
				judged(commit, c, verdicts[i])
			}
		}
	}
	return nil
}

// judge returns the verdict about each claim of a commit.
func (p prover) judge(ctx context.Context, commit repo.Commit, claims []claim) ([]verdict, error) {
	verdicts := make([]verdict, len(claims))
	anyProven := false
	for i, c := range claims {
		before, err := p.before(ctx, c.Target, commit)
		if err != nil {
			return nil, err
		}
		after, err := p.from.Past.At(ctx, c.Target, commit.ID)
		if err != nil {
			return nil, err
		}
		verdicts[i] = compareClaim(p.from.Past.config, c, before, after)
		anyProven = anyProven || verdicts[i].Proven
	}
	if !anyProven {
		return verdicts, nil
	}
	if len(commit.Parents) == 2 {
		return verdicts, p.judgeMerged(ctx, commit, claims, verdicts)
	}
	// GitHub creates squash merges with the same author and committer, and who merges writes
	// their message.
	squashed := p.from.By.Created(commit) && !landByPush(p.from.Past.config, claims)
	if squashed || !p.from.By.Committed(commit) {
		return verdicts, nil
	}
	ours, why, err := p.isOurs(ctx, commit)
	for i := range verdicts {
		if v := &verdicts[i]; v.Proven {
			v.Ours = ours
			v.Why = why
			v.Proven = why == ""
		}
	}
	return verdicts, err
}

// before returns the files of a target before a commit; nil: they are not readable.
func (p prover) before(ctx context.Context, target promotion.Target, commit repo.Commit) (*promotion.Current, error) {
	if commit.Shallow {
		return nil, nil
	}
	if len(commit.Parents) == 0 {
		return &promotion.Current{}, nil
	}
	before, err := p.from.Past.At(ctx, target, commit.Parents[0])
	return &before, err
}

// landByPush reports whether all of the targets of claims land by push, so that no user merges.
func landByPush(c *config.Config, claims []claim) bool {
	return !slices.ContainsFunc(claims, func(one claim) bool {
		environment, known := c.Environment(one.Environment)
		return !known || environment.Land != setting.LandPush
	})
}

// judgeMerged adds to the verdicts about a merge whether promoter made what was merged. It is
// read only for an attribution.
func (p prover) judgeMerged(ctx context.Context, commit repo.Commit, claims []claim, verdicts []verdict) error {
	if !slices.ContainsFunc(claims, func(c claim) bool { return !c.Attribution.IsZero() }) {
		return nil
	}
	head, err := p.from.Objects.Commit(commit.Parents[1])
	if err != nil || head.Shallow || !p.from.By.Committed(head) {
		return repo.IgnoreNotFound(err)
	}
	ours, _, err := p.isOurs(ctx, head)
	if err != nil || !ours {
		return repo.IgnoreNotFound(err)
	}
	for _, of := range promotion.ReadTrailers(head.Trailers) {
		for i, c := range claims {
			if c.Target == of.Target && c.SnapshotID == of.SnapshotID {
				verdicts[i].Authored = p.from.By.Authored(commit)
				verdicts[i].Merged = verdicts[i].Authored || c.Attribution.SameRequest(of.Attribution)
			}
		}
	}
	return nil
}

// compareClaim compares a claim with the files of the target before and after the commit;
// before is nil if it is not readable. All references that the commit changed must have the
// versions. Of a component that it did not change, one suffices: users may have edited others.
func compareClaim(c *config.Config, of claim, before *promotion.Current, after promotion.Current) verdict {
	v := verdict{Before: map[string]string{}}
	found := false
	brought := before == nil
	var claimed, written []string // what contradicts
	for _, component := range of.Snapshot.Components() {
		pinned := of.Snapshot[component]
		is := referencesTo(after, component)
		if len(is) == 0 {
			match, _ := c.FollowAs(of.Environment, of.Application, pinned.Repository, component)
			if match.Name == component && !refersTo(after, component) {
				v.Missing = append(v.Missing, component)
			}
			continue
		}
		found = true
		var was []edit.Reference
		if before != nil {
			was = referencesTo(*before, component)
		}
		isNew := func(r edit.Reference) bool {
			return before != nil && !slices.ContainsFunc(was, sameAs(r))
		}
		if r, contradicts := contradiction(c, of.Target, pinned, is, isNew); contradicts {
			claims, has := labels(pinned, r)
			claimed = append(claimed, component+" "+claims)
			written = append(written, component+" "+has)
		}
		if before == nil || len(was) == len(is) && !slices.ContainsFunc(is, isNew) && sameDerived(*before, after, component) {
			continue
		}
		brought = true
		differs := func(r edit.Reference) bool { return r.Tag != was[0].Tag || r.Digest != was[0].Digest }
		if len(was) > 0 && !slices.ContainsFunc(was, differs) {
			v.Before[component] = pinnedAt(was[0]).Reference()
		}
	}
	switch {
	case !found:
		return verdict{Unknown: true}
	case len(claimed) > 0 && (brought || !of.inherited):
		const other = "commit %.7s claims to be the promotion of %s to %s, but its files have %s: it counts as a change by a user"
		return verdict{Why: fmt.Sprintf(other, of.commit, strings.Join(claimed, ", "), of.Name(), strings.Join(written, ", "))}
	case len(claimed) > 0 || !brought:
		return verdict{}
	}
	v.Proven = true
	return v
}

// contradiction returns the first reference to a component that contradicts a claimed version.
// If any reference has the version, only those that the commit changed contradict.
func contradiction(
	c *config.Config, target promotion.Target, pinned promotion.Pinned, is []edit.Reference, isNew func(edit.Reference) bool,
) (edit.Reference, bool) {
	has := func(r edit.Reference) bool { return isAt(c, target, r, pinned) }
	anyHas := slices.ContainsFunc(is, has)
	i := slices.IndexFunc(is, func(r edit.Reference) bool { return !has(r) && (!anyHas || isNew(r)) })
	if i < 0 {
		return edit.Reference{}, false
	}
	return is[i], true
}

// referencesTo returns the references to a component that have a tag or a digest: others
// name only a part of a version.
func referencesTo(files promotion.Current, component string) []edit.Reference {
	return slices.DeleteFunc(slices.Clone(files.References), func(r edit.Reference) bool {
		return r.Component != component || r.Tag == "" && r.Digest == ""
	})
}

func refersTo(files promotion.Current, component string) bool {
	return slices.ContainsFunc(files.References, func(r edit.Reference) bool { return r.Component == component })
}

// sameAs returns whether a reference is another one, wherever in the file it is.
func sameAs(a edit.Reference) func(edit.Reference) bool {
	return func(b edit.Reference) bool {
		return a.Position.File == b.Position.File && a.Repository == b.Repository && a.Tag == b.Tag && a.Digest == b.Digest
	}
}

// isAt reports whether a reference has a version. Where the file has only a tag, the trailers
// may name its digest, because the registry is asked before it is promoted. It does not know
// which digests a moving tag had.
func isAt(c *config.Config, target promotion.Target, r edit.Reference, pinned promotion.Pinned) bool {
	moving := false
	if match, followed := c.FollowAs(target.Environment, target.Application, r.Repository, r.Component); followed {
		_, moving = c.Policy(match.Component).Moving()
	}
	sameTag := r.Tag == pinned.Version.Tag || r.Digest != "" && (r.Tag == "" || pinned.Version.Tag == "")
	sameDigest := r.Digest == pinned.Version.Digest || r.Digest == "" && !moving
	return r.Repository == pinned.Repository && sameTag && sameDigest
}

// labels describes a claimed version and what the file has instead.
func labels(pinned promotion.Pinned, r edit.Reference) (claimed, written string) {
	has := pinnedAt(r)
	if r.Repository != pinned.Repository {
		return pinned.Reference(), has.Reference()
	}
	claimed, written = promotion.Label(pinned.Version), promotion.Label(has.Version)
	if claimed == written {
		return promotion.ShortDigest(pinned.Version.Digest), cmp.Or(promotion.ShortDigest(r.Digest), "no digest")
	}
	return claimed, written
}
