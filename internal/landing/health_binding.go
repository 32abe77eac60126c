package landing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// This file decides which landing a report is about, which is its attribution.
//
// A report about health counts for the landing whose versions it is about. One that names a
// commit is about the landing that the branch had at that commit, if the files there have its
// versions. One that only names digests is about the newest landing that changed nothing else,
// unless it names another version of a component that the landing left as it was; of a chart,
// it must name the version too. All others count for nothing, and are shown; the health is
// unknown where the source names nothing that could identify a landing.

// maxRunning is how many revisions of a report are read to find which versions run.
const maxRunning = 3

// binding is one landing with the commits of its branch at which it was in effect.
type binding struct {
	t              targetReader
	landing        promotion.Landing
	landings       []promotion.Landing // of the target, newest first
	branch         *chain
	newest, oldest int // positions on the branch
	// inEffect returns the newest position at which the files had its versions, see targetHistory.newestOf. What is between
	// that and newest had other ones.
	inEffect  func() (position int, known bool, err error)
	isCurrent bool
}

// assumed returns the state that is assumed for what is in the target now. Nothing is assumed
// about versions to which promoter returned it because others failed.
func (b binding) assumed(was health.State) (health.State, bool) {
	if b.t.from.Assumed == nil || !b.isCurrent || promotion.IsBack(b.t.o.Promotion, b.t.target) {
		return was, false
	}
	status, assumed := b.t.from.Assumed(b.t.target)
	if !assumed {
		return was, false
	}
	return was.Next([]health.Report{{Status: status, Message: "assumed", At: b.notBefore(b.t.o.Now, was)}}), true
}

// next returns the state after reports, and those that do not count. An object that reported
// about the landing is taken: it says nothing about older ones.
func (b binding) next(
	ctx context.Context, was health.State, reports []health.Report, taken map[string]bool,
) (next health.State, other []health.Report, err error) {
	var bound []health.Report
	for _, r := range reports {
		is, err := b.binds(ctx, r)
		if err != nil {
			return was, nil, err
		}
		r.At = b.notBefore(r.At, was)
		if is {
			bound = append(bound, r)
			taken[r.Subject] = true
		} else {
			other = append(other, r)
		}
	}
	unhealthy := slices.ContainsFunc(bound, func(r health.Report) bool { return r.Status != health.Healthy })
	if len(bound) > 0 && (len(other) == 0 || unhealthy) {
		return was.Next(bound), other, nil
	}
	rest := b.rest(other)
	if !b.isCurrent || len(bound) == 0 && !b.becomesUnknown(was, rest, other) {
		return was, other, nil
	}
	// Some objects do not have the versions, or have them no longer, or cannot report about them.
	unknown := health.Report{Subject: rest.Subject, Status: health.Unknown, Sync: rest.Sync, Message: b.describe(rest), At: rest.At}
	return was.Next([]health.Report{unknown}), other, nil
}

// becomesUnknown reports whether the health is unknown where no report is about the landing: a
// user of the engine went back, or, if nothing was reported yet, no report can ever be about it.
func (b binding) becomesUnknown(was health.State, rest health.Report, other []health.Report) bool {
	if was.IsReported() {
		return b.wentBack(other, was)
	}
	return b.unidentified(rest) != ""
}

// rest returns the report to show of those that do not count: the first that can never be
// about a landing, if there is one.
func (b binding) rest(other []health.Report) health.Report {
	if len(other) == 0 {
		return health.Report{}
	}
	return other[max(0, slices.IndexFunc(other, func(r health.Report) bool { return b.unidentified(r) != "" }))]
}

// note describes what does not count; empty: all reports do.
func (b binding) note(other []health.Report) string {
	if len(other) == 0 {
		return ""
	}
	return b.describe(b.rest(other))
}

// running returns what runs instead of the current landing, by the first report about other
// versions: those of the files at its commit, or those of an earlier landing that has its
// digests. Nil: nothing else does, or that is not known.
func (b binding) running(ctx context.Context, other []health.Report, now health.State) (*promotion.Running, error) {
	if !b.isCurrent {
		return nil, nil
	}
	for _, r := range other {
		versions, err := b.runningVersions(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(versions) == 0 {
			continue
		}
		since, err := b.runningSince(r, now)
		if err != nil {
			return nil, err
		}
		return &promotion.Running{Report: r, Versions: versions, Since: since.UTC()}, nil
	}
	return nil, nil
}

// runningVersions returns the versions of a report that are not those of the landing.
func (b binding) runningVersions(ctx context.Context, r health.Report) (promotion.Snapshot, error) {
	versions := promotion.Snapshot{}
	landed := b.landed()
	for component := range b.landing.Snapshot {
		if instead, named := b.instead(r, component, landed); named {
			versions[component] = instead
		}
	}
	for _, revision := range r.Revisions[:min(len(r.Revisions), maxRunning)] {
		if _, err := b.t.from.Objects.Commit(revision); err != nil { // of another repository
			continue
		}
		files, read, err := b.t.from.Past.Try(ctx, b.t.target, revision)
		if err != nil {
			return nil, err
		}
		if !read {
			continue
		}
		for _, at := range files.References {
			pinned, landed := b.landing.Snapshot[at.Component]
			if landed && !ContainsVersion(promotion.Current{References: []edit.Reference{at}}, at.Component, pinned) {
				pinned.Version = at.Version()
				versions[at.Component] = pinned
			}
		}
	}
	return versions, nil
}

// runningSince returns since when a report is about other versions than the landing.
func (b binding) runningSince(r health.Report, now health.State) (time.Time, error) {
	since := b.landing.At
	if now.Subject == r.Subject && now.Status == health.Unknown { // the landing ran before
		since = now.Since
	}
	if since.IsZero() { // the time of a commit is a claim, which is good enough to show
		landed, err := b.t.from.Objects.Commit(b.landing.First)
		if err != nil {
			return time.Time{}, err
		}
		since = landed.Committer.When
	}
	if since.After(b.t.o.Now) {
		since = b.t.o.Now
	}
	return since, nil
}

// notBefore returns the time of a report, not before the versions were there: an engine may
// report since when an object is healthy, whatever its versions are.
func (b binding) notBefore(at time.Time, was health.State) time.Time {
	since := b.landing.At
	if was.Since.After(since) {
		since = was.Since
	}
	if since.IsZero() || since.After(b.t.o.Now) {
		since = b.t.o.Now
	}
	if at.Before(since) {
		at = since
	}
	if at.After(b.t.o.Now) {
		at = b.t.o.Now
	}
	return at.UTC().Truncate(time.Second)
}

// binds reports whether a report is about the landing.
func (b binding) binds(ctx context.Context, r health.Report) (bool, error) {
	onBranch := 0 // of the revisions
	holds := 0
	for _, revision := range r.Revisions {
		position, found := b.branch.position[revision]
		if !found {
			continue
		}
		onBranch++
		if position < b.newest || position > b.oldest {
			continue
		}
		is, err := b.holds(ctx, revision, position)
		if err != nil {
			return false, err
		}
		if is {
			holds++
		}
	}
	if onBranch > 0 {
		return holds == onBranch, nil
	}
	changed := b.changed()
	missing := func(component string) bool { return !b.names(r, component) }
	if len(changed) == 0 || slices.ContainsFunc(changed, missing) {
		return false, nil
	}
	contradicts, err := b.contradicts(ctx, r)
	return !contradicts, err
}

// contradicts reports whether a report names another version of a component than the landing
// had, although it names those that the landing changed. Digests that no component had are of
// other images, and a report need not name a component that was left as it was.
func (b binding) contradicts(ctx context.Context, r health.Report) (bool, error) {
	unknown := slices.Clone(r.Digests)
	for _, pinned := range b.landing.Snapshot {
		unknown = slices.DeleteFunc(unknown, func(digest string) bool { return digest == pinned.Version.Digest })
	}
	if len(unknown) == 0 {
		return false, nil
	}
	namesOther := func(had []promotion.Snapshot) bool {
		return slices.ContainsFunc(b.landing.Snapshot.Components(), func(component string) bool {
			_, named := b.instead(r, component, had)
			return named
		})
	}
	if namesOther(b.landed()) {
		return true, nil
	}
	written, err := b.written(ctx)
	return namesOther(written), err
}

// instead returns the version of a component that a report names instead of the landed one, of
// those that the target had.
func (b binding) instead(r health.Report, component string, had []promotion.Snapshot) (promotion.Pinned, bool) {
	landed := b.landing.Snapshot[component].Version
	if slices.Contains(r.Digests, landed.Digest) {
		return promotion.Pinned{}, false
	}
	i := slices.IndexFunc(had, func(s promotion.Snapshot) bool {
		was := s[component].Version
		return slices.Contains(r.Digests, was.Digest) && !promotion.SameRollout(was, landed)
	})
	if i < 0 {
		return promotion.Pinned{}, false
	}
	return had[i][component], true
}

// landed returns what landed in the target, and what that replaced, newest first.
func (b binding) landed() []promotion.Snapshot {
	var had []promotion.Snapshot
	for _, l := range b.landings {
		had = append(had, l.Snapshot, l.Before)
	}
	return had
}

// written returns what the files of the target had since the landing: users may have written
// versions that never landed. What cannot be read is left out.
func (b binding) written(ctx context.Context) ([]promotion.Snapshot, error) {
	files := b.t.o.Promotion.Deployment(b.t.target).Files
	var had []promotion.Snapshot
	for _, commit := range b.branch.commits[:min(b.oldest, maxFirst)] {
		if commit.Shallow || len(commit.Parents) == 0 {
			break
		}
		changed, err := b.t.from.Objects.Changed(commit.Parents[0], commit.ID)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(changed, func(path string) bool { return slices.Contains(files, path) }) {
			continue
		}
		then, read, err := b.t.from.Past.Try(ctx, b.t.target, commit.ID)
		if err != nil {
			return nil, err
		}
		if snapshot, why := b.t.snapshotOf(then, b.landings); read && why == "" {
			had = append(had, snapshot)
		}
	}
	return had, nil
}

// changed returns the components that the landing changed, sorted; all, where that is unknown.
func (b binding) changed() []string {
	if len(b.landing.Before) == 0 {
		return b.landing.Snapshot.Components()
	}
	return b.landing.Before.Components()
}

// names reports whether a report names the landed version of a component by its digest, and of
// a chart also by its version.
func (b binding) names(r health.Report, component string) bool {
	version := b.landing.Snapshot[component].Version
	if version.Digest == "" || !slices.Contains(r.Digests, version.Digest) {
		return false
	}
	if len(r.Charts) == 0 || !b.is(component, image.ArtifactChart) {
		return true
	}
	return slices.ContainsFunc(r.Charts, func(chart string) bool { return isChartVersion(chart, version) })
}

func (b binding) is(component string, artifact image.Artifact) bool {
	c := b.t.o.Promotion.Config
	target := b.t.target
	match, _ := c.FollowAs(target.Environment, target.Application, b.landing.Snapshot[component].Repository, component)
	known, found := c.Component(match.Component)
	return found && known.Artifact == artifact
}

// chartDigits is how many digits of its digest Flux appends to the version of a chart.
// https://github.com/fluxcd/helm-controller/blob/v1.4.0/internal/controller/helmrelease_controller.go#L919
const chartDigits = 12

// isChartVersion reports whether a version that a source names is that of a tag. A tag that is
// no version, such as latest, is compared by its digest alone.
func isChartVersion(chart string, version image.Version) bool {
	tag := strings.TrimPrefix(strings.Replace(version.Tag, "_", "+", 1), "v") // tags cannot contain a plus
	chart = strings.TrimPrefix(chart, "v")
	number, metadata, _ := strings.Cut(chart, "+")
	if _, digits, _ := strings.Cut(version.Digest, ":"); len(metadata) == chartDigits && strings.HasPrefix(digits, metadata) {
		chart = number
		tag, _, _ = strings.Cut(tag, "+") // Flux replaces it
	}
	return chart == tag || tag == "" || tag[0] < '0' || tag[0] > '9'
}

// unidentified returns why a report can be about no landing of the target, whatever is
// deployed. Empty: one about the landing would name it.
func (b binding) unidentified(r health.Report) string {
	lacks := func(artifact image.Artifact) string {
		return strings.Join(slices.DeleteFunc(b.changed(), func(component string) bool { return b.is(component, artifact) }), ", ")
	}
	charts, others := lacks(image.ArtifactChart), lacks(image.ArtifactOther)
	switch {
	case b.commit(r) != "":
		return ""
	case r.Source == health.Flux && len(r.Charts) > 0 && charts != "":
		return "which does not identify " + charts + ": monitor the Kustomization that applies it"
	case len(r.Charts) > 0 && len(r.Digests) == 0:
		return "without its digest, and a version may move"
	case r.Source == health.Flux && len(r.Charts) == 0 && len(r.Digests) > 0 && others != "":
		return "without the commit that it was made from: set its annotation org.opencontainers.image.revision"
	}
	return ""
}

// commit returns the first commit that a report names; empty: none. The digest of an artifact
// could be a commit only in a repository with SHA-256.
func (b binding) commit(r health.Report) string {
	i := slices.IndexFunc(r.Revisions, func(revision string) bool { return len(revision) == len(b.landing.Commit) })
	if i < 0 {
		return ""
	}
	return r.Revisions[i]
}

// holds reports whether the files of a commit have the versions of the landing.
func (b binding) holds(ctx context.Context, commit string, position int) (bool, error) {
	if position == 0 && b.isCurrent || commit == b.landing.Commit {
		return true, nil
	}
	files, read, err := b.t.from.Past.Try(ctx, b.t.target, commit)
	return read && containsSnapshot(files, b.landing.Snapshot), err
}

// wentBack reports whether an object reported about an older commit after the state was known:
// a user of the engine returned to it.
func (b binding) wentBack(reports []health.Report, was health.State) bool {
	return slices.ContainsFunc(reports, func(r health.Report) bool {
		return r.At.After(was.Since) && slices.ContainsFunc(r.Revisions, func(revision string) bool {
			_, err := b.t.from.Objects.Commit(revision)
			return err == nil
		})
	})
}

// describe returns what a report is about that does not count.
func (b binding) describe(r health.Report) string {
	text := fmt.Sprintf("%s last reported %s ", r.Subject, r.Status)
	commit := b.commit(r)
	why := b.unidentified(r)
	if why != "" {
		why = ", " + why
	}
	switch {
	case commit != "":
		return text + fmt.Sprintf("about %.7s, which does not have these versions on %s", commit, b.t.o.Promotion.BaseOf(b.t.target))
	case len(r.Charts) > 0:
		return text + "about version " + r.Charts[0] + " of a chart" + why
	case why != "":
		return text + "about the artifact " + promotion.ShortDigest(r.Digests[0]) + why
	case len(r.Digests) > 0:
		return text + "about other digests"
	default:
		return text + "without a revision or a digest"
	}
}
