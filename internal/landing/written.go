package landing

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// This file reads from when until when the files of a target had the same versions, also if a user wrote
// them. Landings are only what trailers claim and files prove: between two landings of a snapshot,
// a user may have written others, and a version may have come back without any landing.
//
// What is read follows from commits, which never change, and from the config. So it is remembered,
// and a later reconciliation reads the new commits only.

const (
	// maxWalked is how many commits are compared with their parents for one target in one reconciliation.
	maxWalked = 2000
	// maxWrittenReads is how many times files are read for that, for all targets.
	maxWrittenReads = 200
	// maxPeriods is how many periods of a target are remembered, the newest.
	maxPeriods = 50
)

// period is consecutive commits of a branch in which the files of a target have the same versions.
type period struct {
	// Commits are those that touched the files of the target, newest first. The last one brought the
	// versions, if the period begins there.
	Commits []string `json:"commits"`
	// Images are the versions by component, in the most complete form that the commits have.
	Images map[string]string `json:"images,omitempty"`
	// Unclear is set if the files are not those of one snapshot: there are none, they cannot be
	// read, or have several versions of a component.
	Unclear bool `json:"unclear,omitempty"`
}

// first returns the oldest commit that is known to have the versions.
func (p period) first() string {
	if len(p.Commits) == 0 {
		return ""
	}
	return p.Commits[len(p.Commits)-1]
}

// snapshot returns the versions.
func (p period) snapshot() promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for component, text := range p.Images {
		if was, err := image.Parse(text); err == nil {
			snapshot[component] = promotion.Pinned{Repository: was.Repository, Version: was.Version()}
		}
	}
	return snapshot
}

// walked is what the files of a target had, back from a head.
type walked struct {
	Head    string   `json:"head"`
	Periods []period `json:"periods"` // newest first
	// Next is the commit from which a later walk goes on. Empty: what is older is not needed.
	Next string `json:"next,omitempty"`
	// Root is set if the walk came to the first commit of the branch.
	Root bool `json:"root,omitempty"`
}

// begins reports whether it is known where a period begins.
func (w walked) begins(i int) bool { return i < len(w.Periods)-1 || w.Root }

// of returns the index of the period to which a commit belongs that touched the files; -1: none.
func (w walked) of(commit string) int {
	return slices.IndexFunc(w.Periods, func(s period) bool { return slices.Contains(s.Commits, commit) })
}

// walked reads what the files of the target had: its current versions however old they are, as far
// as the limits permit, and those before that are not older than what is needed.
func (t targetReader) walked(ctx context.Context, since time.Time, found landings) (walked, error) {
	branch := t.o.Promotion.BaseOf(t.target)
	key := strings.Join([]string{"written", t.from.Past.config.Fingerprint(), branch, t.target.Environment, t.target.Application}, " ")
	before := t.from.loadWritten(key)
	if before.Head == t.head() && before.Next == "" {
		return before, nil
	}
	w := walker{t: t, touches: t.touches(), since: since, pairs: pairsOf(found)}
	now, err := w.walkOn(ctx, before)
	if err == nil {
		t.from.storeWritten(ctx, key, now)
	}
	return now, err
}

func (r Reader) loadWritten(key string) (w walked) {
	if r.Memory == nil {
		return w
	}
	text, known := r.Memory.Load(key)
	if !known || json.Unmarshal([]byte(text), &w) != nil || len(w.Periods) == 0 {
		return walked{}
	}
	return w
}

func (r Reader) storeWritten(ctx context.Context, key string, w walked) {
	text, err := json.Marshal(w)
	if err != nil || r.Memory == nil {
		return
	}
	if err := r.Memory.Store(map[string]string{key: string(text)}); err != nil {
		r.Log.WarnContext(ctx, "versions in files not remembered", slog.Any("error", err))
	}
}

// walker walks back from the head of a branch. The last of the periods is the one at which it is.
type walker struct {
	t       targetReader
	touches func(path string) bool
	since   time.Time
	found   walked
	pairs   pairs
	open    bool // the files before the oldest commit of the period are not compared yet
}

// walkOn walks to the head of a walk of before, and goes on where that one met a limit. It walks again if
// the branch no longer has that head.
func (w *walker) walkOn(ctx context.Context, before walked) (walked, error) {
	head := w.t.head()
	w.start(head)
	from := head
	if before.Head != "" {
		met, err := w.walk(ctx, head, before.Head)
		switch {
		case err != nil:
			return walked{}, err
		case !met || !w.join(before):
			w.start(head)
		case w.found.Next == "":
			return w.found, nil
		default:
			from = w.found.Next
		}
	}
	_, err := w.walk(ctx, from, "")
	return w.found, err
}

// start starts at the head with the files of now.
func (w *walker) start(head string) {
	w.found, w.open = walked{Head: head}, false
	w.begin(w.t.o.Promotion.Targets[w.t.target])
}

// begin begins a period with files.
func (w *walker) begin(files promotion.Current) {
	images, whole := w.pairs.imagesOf(files)
	w.found.Periods = append(w.found.Periods, period{Images: images, Unclear: !whole})
	w.open = false
}

// at returns the period at which the walk is.
func (w *walker) at() *period { return &w.found.Periods[len(w.found.Periods)-1] }

// walk walks from a commit back to a known one, or as far as is needed. It reports whether it
// met the known one.
func (w *walker) walk(ctx context.Context, from, known string) (met bool, err error) {
	for commit, err := range repo.FirstParents(w.t.from.Objects, from, maxWalked) {
		if err != nil {
			return false, err
		}
		if commit.ID == known {
			return true, nil
		}
		w.found.Next = commit.ID // until it is compared with its parent
		touched, err := w.touched(commit)
		if err != nil {
			return false, err
		}
		if touched {
			if on, err := w.touch(ctx, commit.ID); err != nil || !on {
				return false, err
			}
		}
		switch {
		case commit.Shallow:
			return false, nil
		case len(commit.Parents) == 0:
			w.found.Next, w.found.Root = "", true
			return false, nil
		}
		w.found.Next = commit.Parents[0]
		if commit.Committer.When.Before(w.since) {
			if on, err := w.compare(ctx, commit.Parents[0]); err != nil || !on {
				return false, err
			}
			if len(w.found.Periods) > 1 {
				w.found.Next = ""
				return false, nil
			}
		}
	}
	return false, nil
}

// touched reports whether a commit may have changed files of the target. The oldest one that is readable has.
func (w *walker) touched(commit repo.Commit) (bool, error) {
	if commit.Shallow || len(commit.Parents) == 0 {
		return true, nil
	}
	changed, err := w.t.from.Past.changed(w.t.from.Objects, commit)
	return slices.ContainsFunc(changed, w.touches), err
}

// touch adds a commit to its period. It returns false where the walk ends.
func (w *walker) touch(ctx context.Context, commit string) (bool, error) {
	if on, err := w.compare(ctx, commit); err != nil || !on {
		return false, err
	}
	if at := w.at(); at.first() != commit { // where a walk goes on
		at.Commits = append(at.Commits, commit)
	}
	w.open = true
	return true, nil
}

// compare compares the files of the period with those of an older commit, which the next one that touched
// them has too. It returns false where the walk ends.
func (w *walker) compare(ctx context.Context, commit string) (bool, error) {
	at := w.at()
	if !w.open || at.first() == commit {
		return true, nil
	}
	if !w.t.from.Past.mayRead() {
		return false, nil
	}
	files, read, err := w.t.from.Past.Try(ctx, w.t.target, commit)
	if err != nil || !read {
		return false, repo.IgnoreNotFound(err)
	}
	images, whole := w.pairs.imagesOf(files)
	if continues(at, period{Images: images, Unclear: !whole}, w.t.moving) {
		w.open = false
		return true, nil
	}
	if len(w.found.Periods) == maxPeriods {
		w.found.Next = ""
		return false, nil
	}
	w.begin(files)
	return true, nil
}

// join adds what was found before at the commit where the walk is now. It returns false if that has other files.
func (w *walker) join(before walked) bool {
	periods := before.Periods
	if len(periods) == 0 {
		return false
	}
	at := w.at()
	touched := len(at.Commits) > 0
	if continues(at, periods[0], w.t.moving) {
		at.Commits = slices.Concat(at.Commits, periods[0].Commits)
		periods = periods[1:]
	} else if !touched {
		return false
	}
	w.found.Periods = append(w.found.Periods, periods...)
	w.found.Next, w.found.Root = before.Next, before.Root
	if len(w.found.Periods) > maxPeriods {
		w.found.Periods = w.found.Periods[:maxPeriods]
		w.found.Next, w.found.Root = "", false
	}
	w.open = len(w.at().Commits) > 0
	return true
}

// continues reports whether an older period has the versions of a newer one, maybe in another form. The
// newer one then gets what only the older one has of them. What a moving tag was is known by its
// digest alone.
func continues(newer *period, older period, moving func(component string) bool) bool {
	if newer.Unclear || older.Unclear || len(newer.Images) != len(older.Images) {
		return false
	}
	complete := map[string]string{}
	now, was := newer.snapshot(), older.snapshot()
	for component, pinned := range now {
		before, had := was[component]
		if !had || before.Repository != pinned.Repository || !promotion.SameRollout(before.Version, pinned.Version) {
			return false
		}
		if (pinned.Version.Digest == "") != (before.Version.Digest == "") && moving(component) {
			return false
		}
		if pinned.Version.Digest == "" {
			pinned.Version.Digest = before.Version.Digest
		}
		complete[component] = pinned.Reference()
	}
	newer.Images = complete
	return true
}

func (t targetReader) moving(component string) bool {
	policy := t.o.Promotion.Policies[component]
	if policy == nil {
		policy = t.o.Promotion.Config.Policy(component)
	}
	_, moving := policy.Moving()
	return moving
}

// pairs are tags with the digests with which they landed in the target. Files may have the tag in one place, and the digest
// in another.
type pairs map[string]bool // by repository:tag@digest

func pairsOf(found landings) pairs {
	all := pairs{}
	for _, l := range found.all() {
		for _, pinned := range l.Snapshot {
			all[pinned.String()] = true
		}
	}
	return all
}

// joined returns the version that two references have together, if one has its tag and the other one its digest.
func (p pairs) joined(a, b promotion.Pinned) (promotion.Pinned, bool) {
	sameTags, sameDigests := (a.Version.Tag == "") == (b.Version.Tag == ""), (a.Version.Digest == "") == (b.Version.Digest == "")
	if a.Repository != b.Repository || sameTags || sameDigests {
		return a, false
	}
	a.Version.Tag += b.Version.Tag
	a.Version.Digest += b.Version.Digest
	return a, p[a.String()]
}

// imagesOf returns the versions in files by component; false: they are not those of one snapshot.
func (p pairs) imagesOf(files promotion.Current) (map[string]string, bool) {
	images := map[string]string{}
	known := promotion.Snapshot{}
	for _, r := range files.References {
		if r.Tag == "" && r.Digest == "" {
			continue
		}
		other, several := known[r.Component]
		if joined, one := p.joined(other, pinnedAt(r)); several && one {
			known[r.Component] = joined
			images[r.Component] = joined.Reference()
			continue
		}
		if several && (other.Repository != r.Repository || !promotion.SameRollout(other.Version, r.Version())) {
			return nil, false
		}
		if !several || other.Version.Digest == "" {
			known[r.Component] = pinnedAt(r)
			images[r.Component] = pinnedAt(r).Reference()
		}
	}
	return images, len(images) > 0
}

// touches returns whether a path may have versions of the target.
func (t targetReader) touches() func(path string) bool {
	environment, _ := t.o.Promotion.Config.Environment(t.target.Environment)
	own := t.o.Promotion.Deployment(t.target).Files
	return func(path string) bool {
		application, within := environment.Match(path)
		return within && (environment.ByComponent || application == t.target.Application) || slices.Contains(own, path)
	}
}

// Written returns the targets of new commits of a branch, back to a known one: those that their trailers name, and
// those whose files they touch, also if what they wrote is gone again. It returns false if the known commit is not
// among so many: the branch was moved back, say.
func (r Reader) Written(o Observed, branch, known string, most int) ([]promotion.Target, bool) {
	head := o.Heads[branch]
	if head == known {
		return nil, true
	}
	paths := map[string]bool{}
	var targets []promotion.Target
	for commit, err := range repo.FirstParents(r.Objects, head, most) {
		if err != nil {
			return nil, false
		}
		if commit.ID == known {
			return append(targets, o.touchedBy(branch, paths)...), true
		}
		if commit.Shallow || len(commit.Parents) == 0 {
			return nil, false
		}
		for _, c := range claimsOf(r.Objects, commit) {
			targets = append(targets, c.Target)
		}
		changed, err := r.Past.changed(r.Objects, commit)
		if err != nil {
			return nil, false
		}
		for _, path := range changed {
			paths[path] = true
		}
	}
	return nil, false
}

// touchedBy returns the targets on a branch that may have versions in files, in no order.
func (o Observed) touchedBy(branch string, paths map[string]bool) []promotion.Target {
	var touched []promotion.Target
	byComponent := map[string]bool{} // environments in which files of any application may be touched
	for i := range o.Promotion.Config.Environments {
		environment := &o.Promotion.Config.Environments[i]
		if o.Promotion.BranchOf(*environment) != branch {
			continue
		}
		for path := range paths {
			application, within := environment.Match(path)
			switch {
			case within && environment.ByComponent:
				byComponent[environment.Name] = true
			case within:
				touched = append(touched, promotion.Target{Environment: environment.Name, Application: application})
			}
		}
	}
	for target, current := range o.Promotion.Targets {
		has := func(r edit.Reference) bool { return paths[r.Position.File] }
		here := byComponent[target.Environment] || slices.ContainsFunc(current.References, has) || slices.ContainsFunc(current.Derived, has)
		if o.Promotion.BaseOf(target) == branch && here {
			touched = append(touched, target)
		}
	}
	return touched
}
