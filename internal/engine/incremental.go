package engine

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// An incremental reconciliation decides only about the applications that something touched
// since the last one, and keeps the other decisions. It lists the branches and pull requests,
// and reads the config, the state branch, and the trees like a full one; what differs from the
// last observation names the applications. Only answers of registries cannot be compared
// without asking: the caller names the images that may have other ones.
//
// The full reconciliation stays the measure: it is made at the start, after anything failed,
// and whenever the caller has nothing that was kept. See check for how the two are compared.

// Kept is what a reconciliation planned, and from what, for the next one of the same
// repository in the same process.
type Kept struct {
	heads     map[string]string     // the fetched branches
	open      map[string]bool       // our branches, with or without a pull request
	promotion promotion.Observation // with the fields that touched compares, or that are reused
	decisions []promotion.Decision
	volatile  map[string]bool
	images    map[image.Repository]map[string]bool // the applications that refer to each
	attempts  map[promotion.Target]map[string]int
	others    map[string][]edit.Reference // by branch
	drift     []drift.Drift
}

// Size estimates its memory in bytes, besides that of the files, which the scans share.
func (k *Kept) Size() int64 {
	const ofDecision, ofTarget = 1200, 250 // measured with the tree of the benchmarks
	return int64(len(k.decisions))*ofDecision + int64(len(k.promotion.Targets))*ofTarget
}

// Changed names what may have changed outside of a repository since an observation.
type Changed struct {
	// Image reports whether registries may have another answer about an image. Nil: they have
	// the same ones.
	Image func(image.Repository) bool
}

// Keeper keeps the last observation of one repository between reconciliations.
type Keeper interface {
	// Load returns what Keep got last, and what may have changed since. Nil: nothing is kept,
	// or everything may have changed, such as after a poll.
	Load(ctx context.Context) (*Kept, Changed, error)
	// Keep replaces it. Nil: the next reconciliation is a full one.
	Keep(kept *Kept)
}

// maxNewCommits is how many new commits of a branch are searched for trailers.
const maxNewCommits = 200

// basis is what an attempt starts from.
type basis struct {
	kept    *Kept // nil: decide about everything
	changed Changed
	refs    *repo.Refs // the branches, with our own pushes since they were listed; nil: list them
	last    bool       // the attempt: it tolerates conflicts of parts, because no other one follows
}

// loadConfig loads the config of a commit of the default branch, and reads again only what may
// differ from the observation before.
func (s basis) loadConfig(objects repo.Contents, commit, branch string) (*config.Config, error) {
	if s.kept == nil {
		return repo.LoadConfig(objects, commit, branch, nil)
	}
	if s.kept.heads[branch] == commit {
		return s.kept.promotion.Config, nil
	}
	return repo.LoadConfig(objects, commit, branch, s.kept.promotion.Config)
}

// full returns the start of an attempt that decides about everything.
func (s basis) full() basis { return basis{last: s.last} }

// touchedBy returns the observation with the applications to decide about: those that something
// touched since an earlier one. Without that, or if too much has changed, it is about all of
// them.
func (o Observation) touchedBy(start basis, history landing.Reader) Observation {
	if start.kept == nil {
		return o
	}
	touched, partial := start.kept.touched(o, start.changed, history)
	if partial {
		o.kept, o.Promotion.Applications = start.kept, touched
	}
	return o
}

// touched returns the applications that something touched. It returns false if it may be all
// of them.
func (k *Kept) touched(o Observation, changed Changed, history landing.Reader) (touched map[string]bool, partial bool) {
	before := k.promotion
	switch {
	case o.Asked != nil, len(o.failures.Errors) > 0, len(o.failures.Skipped) > 0, len(o.failures.Unavailable) > 0,
		!sameConfig(before.Config, o.Promotion.Config),
		before.DefaultBranch != o.Promotion.DefaultBranch, before.PushOnly != o.Promotion.PushOnly:
		return nil, false
	}
	touched = map[string]bool{}
	maps.Copy(touched, k.volatile)

	// The files, the user decisions, and our branches.
	touchFiles(touched, before.Targets, o.Promotion.Targets)
	for _, target := range o.Promotion.State.Changed(k.promotion.State) {
		touched[target.Application] = true
	}
	for branch := range ourBranches(o) {
		target, _ := promotion.ParseHead(branch)
		touched[target.Application] = true
	}
	for branch := range k.open {
		target, _ := promotion.ParseHead(branch)
		touched[target.Application] = true
	}

	// What the trailers of new commits claim.
	for branch := range o.Promotion.EnvironmentsByBranch() {
		claimed, known := history.Claimed(o.Heads[branch], k.heads[branch], maxNewCommits)
		if !known {
			return nil, false
		}
		for _, target := range claimed {
			touched[target.Application] = true
		}
	}

	// A record or a branch of a whole environment concerns each of its applications.
	if touched[state.All] {
		return nil, false
	}
	if changed.Image != nil {
		k.touchImages(touched, changed.Image)
	}
	return touched, true
}

// touchFiles adds the applications whose files differ.
func touchFiles(touched map[string]bool, before, now map[promotion.Target]promotion.Current) {
	if reflect.ValueOf(before).Pointer() == reflect.ValueOf(now).Pointer() {
		return // the same scan
	}
	for target, current := range now {
		if was, known := before[target]; !known || !sameFiles(was, current) {
			touched[target.Application] = true
		}
	}
	for target := range before {
		if _, exists := now[target]; !exists {
			touched[target.Application] = true
		}
	}
}

// sameConfig reports whether two configs are from the same file, and the files that it names.
func sameConfig(a, b *config.Config) bool {
	same := func(a, b config.Component) bool { return reflect.DeepEqual(a.Verify, b.Verify) }
	return a.Fingerprint() == b.Fingerprint() && slices.EqualFunc(a.Components, b.Components, same)
}

// sameFiles reports whether two scans found the same in the files of a target. What did not
// change is shared by them.
func sameFiles(a, b promotion.Current) bool {
	return sameList(a.References, b.References) && sameList(a.Refusals, b.Refusals) && sameList(a.Holds, b.Holds)
}

// sameList reports whether two lists are the same one, or equal.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || reflect.DeepEqual(a, b))
}

// touchImages adds the applications whose files refer to changed images. Of those whose files changed
// since, they are added anyway.
func (k *Kept) touchImages(touched map[string]bool, changed func(image.Repository) bool) {
	for repository, applications := range k.images {
		if changed(repository) {
			maps.Copy(touched, applications)
		}
	}
}

// imagesIn returns the applications whose files refer to each image, or to a mirror of it. Where the
// touched applications refer to the same ones as before, so do all.
func imagesIn(o promotion.Observation, kept *Kept) map[image.Repository]map[string]bool {
	same := kept != nil
	for target := range o.Selected() {
		same = same && sameImages(kept.promotion.Targets[target], o.Targets[target])
	}
	if same {
		return kept.images
	}
	images := map[image.Repository]map[string]bool{}
	add := func(r image.Repository, application string) {
		if r.IsZero() {
			return
		}
		if images[r] == nil {
			images[r] = map[string]bool{}
		}
		images[r][application] = true
	}
	for target, current := range o.Targets {
		for i := range current.References {
			add(current.References[i].Repository, target.Application)
			add(current.References[i].Mirror, target.Application)
		}
	}
	return images
}

// sameImages reports whether the files of a target refer to the same images as before.
func sameImages(a, b promotion.Current) bool {
	return slices.EqualFunc(a.References, b.References, func(a, b edit.Reference) bool { return a.Repository == b.Repository && a.Mirror == b.Mirror })
}

// ourBranches returns our branches, and those that have an open pull request.
func ourBranches(o Observation) map[string]bool {
	ours := map[string]bool{}
	add := func(branch string) {
		if _, our := promotion.ParseHead(branch); our {
			ours[branch] = true
		}
	}
	for branch := range o.Refs.Branches {
		add(branch)
	}
	for _, pr := range o.Open {
		add(pr.Head.Branch)
	}
	return ours
}

// keep returns what the next reconciliation needs of this one; nil if anything failed, because
// then the next one is a full one.
func (o Observation) keep(plan Plan, report Report) *Kept {
	if report.Failed() || o.Refreshed || o.Asked != nil || len(o.failures.Skipped) > 0 || len(o.failures.Unavailable) > 0 {
		return nil
	}
	k := &Kept{
		heads: maps.Clone(o.Heads), open: ourBranches(o), decisions: plan.Decisions, volatile: plan.volatile,
		images: imagesIn(o.Promotion, o.kept), attempts: o.Attempts, others: o.others(), drift: report.Drift,
	}
	k.promotion = promotion.Observation{
		Config: o.Promotion.Config, DefaultBranch: o.Promotion.DefaultBranch, PushOnly: o.Promotion.PushOnly,
		Targets: o.Promotion.Targets, State: o.Promotion.State, Policies: o.Promotion.Policies, Verify: o.Promotion.Verify,
	}
	return k
}

// with returns the decisions that were kept with the ones that were made now, in the order
// of decide.Plan. What lies between the touched ones is copied as a whole.
func (k *Kept) with(made []promotion.Decision, o promotion.Observation) []promotion.Decision {
	order := map[string]int{}
	for i, environment := range o.Scope() {
		order[environment] = i
	}
	find := func(target promotion.Target) (at int, known bool) {
		return slices.BinarySearchFunc(k.decisions, target, func(d promotion.Decision, target promotion.Target) int {
			return cmp.Or(cmp.Compare(order[d.Environment], order[target.Environment]), cmp.Compare(d.Application, target.Application))
		})
	}
	type edit struct {
		at   int // in what was kept
		made *promotion.Decision
	}
	var edits []edit // without a decision, the one there is left out
	for i := range made {
		at, _ := find(made[i].Target)
		edits = append(edits, edit{at, &made[i]})
	}
	for environment := range order {
		for application := range o.Applications {
			if at, known := find(promotion.Target{Environment: environment, Application: application}); known {
				edits = append(edits, edit{at, nil})
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	merged, done := make([]promotion.Decision, 0, len(k.decisions)+len(made)), 0
	for _, one := range edits {
		merged = append(merged, k.decisions[done:one.at]...)
		if done = one.at; one.made != nil {
			merged = append(merged, *one.made)
		} else {
			done++
		}
	}
	return append(merged, k.decisions[done:]...)
}

// attemptsWith returns the attempts of the applications that nothing touched, with those of the
// others.
func (k *Kept) attemptsWith(now map[promotion.Target]map[string]int, touched map[string]bool) map[promotion.Target]map[string]int {
	all := maps.Clone(now)
	for target, attempts := range k.attempts {
		if !touched[target.Application] {
			all[target] = attempts
		}
	}
	return all
}

// overlay returns a map with the entries of another one over it.
func overlay[K comparable, V any](kept, now map[K]V) map[K]V {
	if len(kept) == 0 {
		return now
	}
	all := maps.Clone(kept)
	maps.Copy(all, now)
	return all
}

// findDrift returns the drift of the repository. Of applications that nothing touched it is the
// same as before.
func (o Observation) findDrift(observed drift.Observed) []drift.Drift {
	if o.kept == nil || len(o.kept.drift) >= drift.MaxFound || !maps.EqualFunc(o.kept.others, observed.Others, sameList) {
		return drift.Find(observed)
	}
	return drift.FindAgain(observed, o.kept.drift)
}
