package landing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// Any user who gets a commit onto a branch can write the trailers and the name of promoter
// into it. Both are therefore claims, which count only as far as the files of the commit,
// compared with those of its first parent, prove them.

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

// Memory remembers verdicts about landings. It is an aid: without it, the files of
// their commits are read again.
type Memory interface {
	Load(key string) (verdict string, known bool)
	Store(verdicts map[string]string) error
}

// claim is what the trailers of a commit state about one target.
type claim struct {
	promotion.Landed
	commit    string
	inherited bool // the trailers are those of a commit that it merged
}

// verdict is what files prove about a claim. As long as the config does not change, it does
// not change either.
type verdict struct {
	// Proven is set if the commit brought the versions. Without Why, it is otherwise not a
	// landing, such as a merge of what was there already.
	Proven bool `json:"proven,omitempty"`
	// Unknown is set if the files have a layout that the config no longer matches.
	Unknown bool `json:"unknown,omitempty"`
	// Ours is set if promoter made the commit: it has our committer, and changes nothing else.
	Ours bool `json:"ours,omitempty"`
	// Merged is set if promoter made the head that the commit merged, and its request is that
	// of the claim or promoter made the merge too.
	Merged bool `json:"merged,omitempty"`
	// Authored is set if promoter is the author of a merge of such a head.
	Authored bool `json:"authored,omitempty"`
	// Missing are the components to which no file refers.
	Missing []string `json:"missing,omitempty"`
	// Before are the images of before, of the components that the commit changed.
	Before map[string]string `json:"before,omitempty"`
	// Why is how the files contradict the claim.
	Why string `json:"why,omitempty"`
}

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
	return landings{found: slices.DeleteFunc(slices.Clone(l.found), func(one landing) bool { return !one.proven })}.all()
}

// verify verifies the claims of one branch, which are sorted from the newest to the oldest.
func (h Reader) verify(ctx context.Context, o Observed, claims []claim) (map[promotion.Target]landings, error) {
	verdicts, err := h.verdicts(ctx, o, claims)
	if err != nil {
		return nil, err
	}
	verified := map[promotion.Target]landings{}
	for _, c := range claims {
		v, read := verdicts[claimKey(h.Past, c)]
		l := landing{Landing: promotion.Landing{Commit: c.commit, Snapshot: c.Snapshot}, proven: v.Proven, ours: v.Ours, attribution: c.Attribution, unproven: v.unproven(c.Attribution)}
		of := verified[c.Target]
		switch {
		case v.Why != "" && len(of.falsified) < maxFalse:
			of.falsified = append(of.falsified, promotion.FalseClaim(v.Why))
		case v.Proven:
			l.Before = v.before()
			if len(v.Missing) > 0 {
				l.Snapshot = maps.Clone(c.Snapshot)
				maps.DeleteFunc(l.Snapshot, func(component string, _ promotion.Pinned) bool { return slices.Contains(v.Missing, component) })
			}
			of.found = append(of.found, l)
		case !read, v.Unknown:
			l.undated = o.isCurrent(c.Target, c.Snapshot)
			l.proven = l.undated
			of.found = append(of.found, l)
		}
		verified[c.Target] = of
	}
	return verified, nil
}

// The parts of an attribution.
const (
	PartRequest  = "request"
	PartApproval = "approval"
)

// unproven returns the parts of an attribution that any user could have written: those of
// commits that are not what promoter writes. The request is in the head of a pull request,
// which promoter made; the approvals are only in the commit that merged it.
func (v verdict) unproven(a promotion.Attribution) (parts []string) {
	if (a.RequestedBy+a.Reason != "" || len(a.Bypassed) > 0) && !v.Ours && !v.Merged {
		parts = append(parts, PartRequest)
	}
	if len(a.ApprovedBy) > 0 && !v.Ours && !(v.Merged && v.Authored) {
		parts = append(parts, PartApproval)
	}
	return parts
}

// before returns the versions that the commit replaced.
func (v verdict) before() promotion.Snapshot {
	before := promotion.Snapshot{}
	for component, text := range v.Before {
		if was, err := image.Parse(text); err == nil {
			before[component] = promotion.Pinned{Repository: was.Repository, Version: image.Version{Tag: was.Tag, Digest: was.Digest}}
		}
	}
	return before
}

// claimKey identifies a claim under the config.
func claimKey(past *PastFiles, c claim) string {
	return strings.Join([]string{past.config.Fingerprint(), c.commit, c.Environment, c.Application, c.SnapshotID}, " ")
}

// verdicts returns the verdicts about claims by key. What is not remembered is read, as far
// as the limits permit.
func (h Reader) verdicts(ctx context.Context, o Observed, claims []claim) (map[string]verdict, error) {
	known, unread := map[string]verdict{}, map[string][]claim{}
	var commits []string
	for _, c := range claims {
		if v, found := h.known().find(c); found {
			known[claimKey(h.Past, c)] = v
			continue
		}
		if unread[c.commit] == nil {
			commits = append(commits, c.commit)
		}
		unread[c.commit] = append(unread[c.commit], c)
	}
	var fresh []judgment
	err := h.judgeAll(ctx, o, commits[:min(len(commits), maxVerified)], unread, func(commit repo.Commit, c claim, v verdict) {
		known[claimKey(h.Past, c)] = v
		if !commit.Shallow { // its parents may be readable later
			fresh = append(fresh, judgment{c, v})
		}
		if v.Why != "" {
			h.Log.WarnContext(ctx, "false claim in trailers", slog.String("claim", v.Why))
		}
	})
	h.known().add(ctx, fresh) // also after an error: the next reconciliation continues
	return known, err
}

// judgeAll judges the claims of commits, which are sorted from the newest to the oldest. A
// commit that exceeds a limit remains unread, so that no user can stop the others with it.
func (h Reader) judgeAll(ctx context.Context, o Observed, commits []string, claims map[string][]claim, judged func(repo.Commit, claim, verdict)) error {
	// Its own budget: what follows is more important than how far this comes.
	limited := budget.With(ctx, budget.New(budget.Limits{budget.Parsed: {Total: maxParsed}}))
	for chunk := range slices.Chunk(commits, chunkSize) {
		// One scan continues from the one before, and the next reconciliation from the newest.
		for _, id := range slices.Backward(chunk) {
			commit, err := h.Objects.Commit(id)
			if err != nil {
				return err
			}
			verdicts, err := h.judge(limited, o, commit, claims[id])
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

// judgment is a claim with the verdict about it.
type judgment struct {
	claim
	verdict
}

// knownVerdicts are the verdicts about claims that reconciliations share.
type knownVerdicts struct {
	memory Memory // nil: none
	past   *PastFiles
	log    *slog.Logger
}

func (h Reader) known() knownVerdicts { return knownVerdicts{h.Memory, h.Past, h.Log} }

func (k knownVerdicts) find(c claim) (v verdict, found bool) {
	if k.memory == nil {
		return v, false
	}
	text, known := k.memory.Load(claimKey(k.past, c))
	return v, known && json.Unmarshal([]byte(text), &v) == nil
}

func (k knownVerdicts) add(ctx context.Context, judged []judgment) {
	texts := map[string]string{}
	for _, j := range judged {
		if text, err := json.Marshal(j.verdict); err == nil {
			texts[claimKey(k.past, j.claim)] = string(text)
		}
	}
	if k.memory == nil || len(texts) == 0 {
		return
	}
	if err := k.memory.Store(texts); err != nil {
		k.log.WarnContext(ctx, "landings not remembered", slog.Any("error", err))
	}
}

// Pushed is a commit of ours that was pushed, with the decisions that it carries out.
type Pushed struct {
	Commit    string
	Decisions []promotion.Decision
}

// Remember remembers what a later reconciliation would find out about commits that were
// pushed just now.
func (h Reader) Remember(ctx context.Context, pushed ...Pushed) {
	var judged []judgment
	for _, p := range pushed {
		for _, d := range p.Decisions {
			v := verdict{Proven: true, Ours: true, Before: map[string]string{}}
			for _, move := range d.Moves {
				if was := (promotion.Pinned{Repository: d.Snapshot[move.Component].Repository, Version: move.From}); was.Version.Tag != "" || was.Version.Digest != "" {
					v.Before[move.Component] = was.Reference()
				}
			}
			judged = append(judged, judgment{claim{Landed: promotion.Landed{Target: d.Target, SnapshotID: d.Snapshot.ID()}, commit: p.Commit}, v})
		}
	}
	h.known().add(ctx, judged)
}

// judge returns the verdict about each claim of a commit.
func (h Reader) judge(ctx context.Context, o Observed, commit repo.Commit, claims []claim) ([]verdict, error) {
	verdicts, anyProven := make([]verdict, len(claims)), false
	for i, c := range claims {
		var before *promotion.Current // nil: not readable
		if !commit.Shallow {
			before = &promotion.Current{}
		}
		if !commit.Shallow && len(commit.Parents) > 0 {
			var err error
			if *before, err = h.Past.At(ctx, c.Target, commit.Parents[0]); err != nil {
				return nil, err
			}
		}
		after, err := h.Past.At(ctx, c.Target, commit.ID)
		if err != nil {
			return nil, err
		}
		verdicts[i] = compareClaim(h.Past, c, before, after)
		anyProven = anyProven || verdicts[i].Proven
	}
	if anyProven && len(commit.Parents) == 2 {
		return verdicts, h.judgeMerged(ctx, o, commit, claims, verdicts)
	}
	// GitHub creates squash merges with the same author and committer, and who merges writes
	// their message.
	merged := h.By.Created(commit) && !landByPush(h.Past.config, claims)
	if !anyProven || !h.By.Committed(commit) || merged {
		return verdicts, nil
	}
	ours, why, err := h.isOurs(ctx, o, commit)
	for i := range verdicts {
		if v := &verdicts[i]; v.Proven {
			v.Ours, v.Why, v.Proven = ours, why, why == ""
		}
	}
	return verdicts, err
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
func (h Reader) judgeMerged(ctx context.Context, o Observed, commit repo.Commit, claims []claim, verdicts []verdict) error {
	if !slices.ContainsFunc(claims, func(c claim) bool { return !c.Attribution.IsZero() }) {
		return nil
	}
	head, err := h.Objects.Commit(commit.Parents[1])
	if err != nil || head.Shallow || !h.By.Committed(head) {
		return repo.IgnoreNotFound(err)
	}
	ours, _, err := h.isOurs(ctx, o, head)
	if err != nil || !ours {
		return repo.IgnoreNotFound(err)
	}
	for _, of := range promotion.ReadTrailers(head.Trailers) {
		for i, c := range claims {
			if c.Target == of.Target && c.SnapshotID == of.SnapshotID {
				verdicts[i].Authored = h.By.Authored(commit)
				verdicts[i].Merged = verdicts[i].Authored || c.Attribution.SameRequest(of.Attribution)
			}
		}
	}
	return nil
}

// compareClaim compares a claim with the files of the target before and after the commit. All
// references that the commit changed must have the versions. Of a component that it did not
// change, one suffices.
func compareClaim(past *PastFiles, c claim, before *promotion.Current, after promotion.Current) verdict {
	v := verdict{Before: map[string]string{}}
	found, brought := false, before == nil
	var claimed, written []string
	for _, component := range c.Snapshot.Components() {
		pinned, is := c.Snapshot[component], referencesTo(after, component)
		if len(is) == 0 {
			if match, _ := past.config.Follow(c.Environment, c.Application, pinned.Repository); match.Name == component && !refersTo(after, component) {
				v.Missing = append(v.Missing, component)
			}
			continue
		}
		var was []edit.Reference
		if before != nil {
			was = referencesTo(*before, component)
		}
		found = true
		isNew := func(r edit.Reference) bool { return !slices.ContainsFunc(was, sameAs(r)) }
		contradicts := func(r edit.Reference) bool { return !isAt(past, c.Target, r, pinned) }
		at := slices.IndexFunc(is, contradicts)
		if at >= 0 && slices.IndexFunc(is, func(r edit.Reference) bool { return !contradicts(r) }) >= 0 {
			at = slices.IndexFunc(is, func(r edit.Reference) bool { return before != nil && isNew(r) && contradicts(r) })
		}
		if at >= 0 {
			claims, has := labels(pinned, is[at])
			claimed, written = append(claimed, component+" "+claims), append(written, component+" "+has)
		}
		if before == nil || !slices.ContainsFunc(is, isNew) && len(was) == len(is) {
			continue
		}
		brought = true
		if len(was) > 0 && !slices.ContainsFunc(was[1:], func(r edit.Reference) bool { return r.Tag != was[0].Tag || r.Digest != was[0].Digest }) {
			v.Before[component] = promotion.Pinned{Repository: was[0].Repository, Version: image.Version{Tag: was[0].Tag, Digest: was[0].Digest}}.Reference()
		}
	}
	switch {
	case !found:
		return verdict{Unknown: true}
	case len(claimed) > 0 && (brought || !c.inherited):
		return verdict{Why: fmt.Sprintf("commit %.7s claims to be the promotion of %s to %s, but its files have %s: it counts as a change by a user",
			c.commit, strings.Join(claimed, ", "), c.Name(), strings.Join(written, ", "))}
	case len(claimed) > 0 || !brought:
		return verdict{}
	}
	v.Proven = true
	return v
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
func isAt(past *PastFiles, target promotion.Target, r edit.Reference, pinned promotion.Pinned) bool {
	moving := false
	if match, followed := past.config.Follow(target.Environment, target.Application, r.Repository); followed {
		_, moving = past.config.Policy(match.Component).Moving()
	}
	sameTag := r.Tag == pinned.Version.Tag || r.Digest != "" && (r.Tag == "" || pinned.Version.Tag == "")
	sameDigest := r.Digest == pinned.Version.Digest || r.Digest == "" && !moving
	return r.Repository == pinned.Repository && sameTag && sameDigest
}

// labels describes a claimed version and what the file has instead.
func labels(pinned promotion.Pinned, r edit.Reference) (claimed, written string) {
	has := promotion.Pinned{Repository: r.Repository, Version: image.Version{Tag: r.Tag, Digest: r.Digest}}
	if r.Repository != pinned.Repository {
		return pinned.Reference(), has.Reference()
	}
	claimed, written = promotion.Label(pinned.Version), promotion.Label(has.Version)
	if claimed == written {
		claimed, written = promotion.ShortDigest(pinned.Version.Digest), cmp.Or(promotion.ShortDigest(r.Digest), "no digest")
	}
	return claimed, written
}
