package landing

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/budget"
	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// maxStatusCommits is how many commits after a landing are searched for a status.
const maxStatusCommits = 5

// maxFirst is how many commits are read to find the one from which files are unchanged, or
// those with which a user changed them after a landing.
const maxFirst = 500

// States has the states of landed commits that were stored.
type States interface {
	Load(ctx context.Context, keys []health.Key) (map[health.Key]health.State, error)
}

// HealthChange is the state of a landed snapshot that is to be stored, and mirrored as a
// commit status if the forge does not have it.
type HealthChange struct {
	health.Key
	health.State
	Mirror bool
}

// healthReader reads the health of landed snapshots. It remembers what it read from the forge
// and from branches.
type healthReader struct {
	reader   Reader
	chains   map[string]*chain      // by head
	statuses map[string][]scm.Check // by commit
	deployed map[string][]health.Report
}

func newHealthReader(h Reader) *healthReader {
	return &healthReader{reader: h, chains: map[string]*chain{}, statuses: map[string][]scm.Check{}, deployed: map[string][]health.Report{}}
}

func (h *healthReader) close() {
	for _, c := range h.chains {
		c.stop()
	}
}

// read fills in the health of the landings of a target: of the current one and, where a child
// depends on it, of those before. It returns what is new.
func (h *healthReader) read(ctx context.Context, o Observed, target promotion.Target, landings []promotion.Landing) ([]HealthChange, error) {
	settings := o.Promotion.Config.Settings(target.Environment, target.Application).Health
	if settings == nil || len(landings) == 0 {
		return nil, nil
	}
	wanted := 1
	if o.anyChild(target, func(p setting.Parent) bool { return p.Healthy || p.Soak > 0 }) {
		wanted = min(len(landings), maxCheckedLandings)
	}
	branch := h.chainOf(o.Heads[o.Promotion.BaseOf(target)])
	first, err := h.firstWith(ctx, o, target, landings[0], branch)
	if err != nil {
		return nil, err
	}
	landings[0].First = first
	for i := range landings[1:] {
		landings[i+1].First = landings[i+1].Commit
	}
	known, err := h.known(ctx, target, landings[:wanted])
	if err != nil {
		return nil, err
	}
	newer := -1 // position of the landing after this one
	taken := map[string]bool{}
	var changes []HealthChange
	for i := range landings[:wanted] {
		l := &landings[i]
		at, found, err := branch.reach(l.First)
		if err != nil {
			return nil, err
		}
		if !found || at <= newer {
			break
		}
		b := binding{h: h, o: o, target: target, landing: *l, landings: landings, branch: branch, newest: newer + 1, oldest: at, isCurrent: i == 0}
		was := known[key(target, l.First)]
		newer = at
		if next, assumed := b.assumed(was); assumed {
			l.Health = next
			if next != was {
				changes = append(changes, HealthChange{Key: key(target, l.First), State: next})
			}
			continue
		}
		reports, latest, err := h.reports(ctx, o, target, *settings, branch.ids(b.newest, at), i == 0)
		if err != nil {
			return nil, err
		}
		if latest {
			reports = slices.DeleteFunc(reports, func(r health.Report) bool { return taken[r.Subject] })
		}
		next, other, err := b.next(ctx, was, reports, taken)
		if err != nil {
			return nil, err
		}
		l.Health, l.HealthNote = next, b.note(other)
		if l.HealthNote == "" && settings.From != "" && h.reader.States == nil && !h.reader.Repository.Features().Statuses {
			l.HealthNote = "only the service knows what arrived at " + settings.From + ": plain Git has no commit statuses that this command could read"
		}
		if l.Running, err = b.running(ctx, other, next); err != nil {
			return nil, err
		}
		if next != was {
			changes = append(changes, HealthChange{Key: key(target, l.First), State: next, Mirror: h.reader.Repository.Features().Statuses && !next.SameTimes(was)})
		}
	}
	return changes, nil
}

func key(target promotion.Target, commit string) health.Key {
	application := target.Application
	if application == config.DefaultApplication {
		application = ""
	}
	return health.Key{Commit: commit, Context: health.Context(target.Environment, application)}
}

// known returns what was stored or mirrored about landings.
func (h *healthReader) known(ctx context.Context, target promotion.Target, landings []promotion.Landing) (map[health.Key]health.State, error) {
	known := map[health.Key]health.State{}
	var keys []health.Key
	for _, l := range landings {
		keys = append(keys, key(target, l.First))
	}
	if h.reader.States != nil {
		var err error
		if known, err = h.reader.States.Load(ctx, keys); err != nil {
			return nil, fmt.Errorf("read the stored health: %w", err)
		}
	}
	if !h.reader.Repository.Features().Statuses {
		return known, nil
	}
	for _, k := range keys {
		if _, stored := known[k]; stored {
			continue
		}
		checks, err := h.checks(ctx, k.Commit)
		if err != nil {
			return nil, err
		}
		for _, check := range checks {
			if check.Name != k.Context || !check.Own {
				continue
			}
			if state, valid := health.ParseDescription(check.Description); valid {
				if known == nil {
					known = map[health.Key]health.State{}
				}
				known[k] = state
			}
		}
	}
	return known, nil
}

// checks returns the statuses of a commit. A credential may be allowed to read only its own.
func (h *healthReader) checks(ctx context.Context, commit string) ([]scm.Check, error) {
	if checks, read := h.statuses[commit]; read {
		return checks, nil
	}
	checks, err := h.reader.Repository.Signals().Checks(ctx, commit)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		return nil, fmt.Errorf("read the checks of %.7s: %w", commit, err)
	}
	h.statuses[commit] = checks
	return checks, nil
}

// reports returns the reports about the objects of a target: with latest, the latest of each
// object, otherwise what the forge has about one of the commits at which a landing was in
// effect, the newest first.
func (h *healthReader) reports(
	ctx context.Context, o Observed, target promotion.Target, settings setting.Health, commits []string, isCurrent bool,
) (reports []health.Report, latest bool, err error) {
	settings = settings.For(target.Environment, target.Application)
	switch source := settings.Source(); {
	case source == health.Deployment:
		reports, err = h.deployments(ctx, settings.Deployment)
		return reports, true, err
	case source == health.Check || source == health.Flux && settings.From == "":
		if !h.reader.Repository.Features().Statuses {
			return nil, false, nil
		}
		subject, matches := settings.Check, func(name string) bool { return name == settings.Check }
		if source == health.Flux {
			subject, matches = settings.Flux, fluxContext(settings.Flux)
		}
		own := commits[len(commits)-1]
		if !isCurrent {
			commits = nil
		}
		for _, commit := range slices.Compact(append(slices.Clone(commits[:min(len(commits), maxStatusCommits)]), own)) {
			checks, err := h.checks(ctx, commit)
			if err != nil {
				return nil, false, err
			}
			if reports = reportsOf(checks, source, subject, commit, matches); len(reports) > 0 {
				break
			}
		}
		return reports, false, nil
	}
	for _, r := range o.Reports {
		if settings.Matches(r, target.Environment, target.Application) {
			reports = append(reports, r)
		}
	}
	return reports, true, nil
}

// fluxContext matches the commit status that Flux sets for an object by default:
// KIND/NAME/ID in lower case, where ID is the first part of the UID of the Provider. It does
// not have the namespace.
// https://github.com/fluxcd/notification-controller/blob/v1.6.0/internal/server/provider_commit_status.go
func fluxContext(object string) func(string) bool {
	parts := strings.Split(object, "/")
	pattern := regexp.MustCompile("^" + regexp.QuoteMeta(parts[0]+"/"+parts[len(parts)-1]+"/") + "[0-9a-f]{8}$")
	return pattern.MatchString
}

func reportsOf(checks []scm.Check, source, subject, commit string, matches func(name string) bool) []health.Report {
	var found []health.Report
	for _, check := range checks {
		if health.IsContext(check.Name) || check.Name == promotion.StatusContext || !matches(check.Name) {
			continue
		}
		status := health.Progressing
		switch check.State {
		case scm.CheckPassed:
			status = health.Healthy
		case scm.CheckFailed:
			status = health.Degraded
		}
		if named, known := evidence.FluxCommitStatus(check.Description); known && source == health.Flux {
			status = named
		}
		report := health.Report{Source: source, Subject: subject, Status: status, Message: check.Description, Revisions: []string{commit}, At: check.At}
		found = append(found, report.Bounded())
	}
	return found
}

// deployments returns the newest deployment to an environment of the forge.
func (h *healthReader) deployments(ctx context.Context, environment string) ([]health.Report, error) {
	reports, read := h.deployed[environment]
	if forge, can := h.reader.Repository.(scm.Deployments); can && !read {
		deployment, found, err := forge.Deployed(ctx, environment)
		if err != nil {
			return nil, fmt.Errorf("read the deployments to %s: %w", environment, err)
		}
		if found {
			report := health.Report{
				Source: health.Deployment, Subject: environment, Status: deployment.Status, Message: deployment.Description,
				Revisions: []string{deployment.Commit}, At: deployment.At,
			}
			reports = []health.Report{report.Bounded()}
		}
		h.deployed[environment] = reports
	}
	return reports, nil
}

// firstWith returns the oldest commit that has the current versions without interruption.
// That is the commit of the landing, unless a user brought them.
func (h *healthReader) firstWith(ctx context.Context, o Observed, target promotion.Target, current promotion.Landing, branch *chain) (string, error) {
	head := o.Heads[o.Promotion.BaseOf(target)]
	if current.Commit != head {
		return current.Commit, nil
	}
	touches := o.touches(target)
	first := head
	for i := range maxFirst {
		commit, found, err := branch.at(i)
		if err != nil || !found {
			return first, err
		}
		first = commit.ID
		if commit.Shallow || len(commit.Parents) == 0 {
			break
		}
		changed, err := h.reader.Objects.Changed(commit.Parents[0], commit.ID)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(changed, touches) {
			continue
		}
		files, err := h.reader.Past.At(ctx, target, commit.Parents[0])
		if errors.Is(err, budget.ErrExceeded) || fault.KindOf(err) == fault.Invalid {
			break
		}
		if err != nil || !containsSnapshot(files, current.Snapshot) {
			return first, err
		}
	}
	return first, nil
}
