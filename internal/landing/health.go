package landing

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// This file reads what sources report about the health of landed snapshots: engines through the
// service, or the forge. Which landing a report is about is decided in health_binding.go.

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

// healthReader reads the health of landed snapshots. It remembers what it read from the forge,
// because targets share it.
type healthReader struct {
	reader   Reader
	statuses *statusReader
	deployed map[string][]health.Report
}

func newHealthReader(r Reader, statuses *statusReader) *healthReader {
	return &healthReader{reader: r, statuses: statuses, deployed: map[string][]health.Report{}}
}

// read fills in the health of the landings of a target: of the current one and, where a child
// depends on it, of those before. It returns what is new.
func (h *healthReader) read(ctx context.Context, t targetReader, history targetHistory) ([]HealthChange, error) {
	landings := history.landings
	settings := t.o.Promotion.Config.Settings(t.target.Environment, t.target.Application).Health
	if settings == nil || len(landings) == 0 {
		return nil, nil
	}
	wanted := 1
	if t.o.anyChild(t.target, func(p setting.Parent) bool { return p.Healthy || p.Soak > 0 }) {
		wanted = min(len(landings), maxCheckedLandings)
	}
	branch := h.statuses.chainOf(t.head())
	known, err := h.known(ctx, t.target, landings[:wanted])
	if err != nil {
		return nil, err
	}
	newer := -1 // position of the landing after this one
	taken := map[string]bool{}
	var changes []HealthChange
	for i, landing := range landings[:wanted] {
		at, found, err := branch.reach(landing.First)
		if err != nil {
			return nil, err
		}
		if !found || at <= newer {
			break
		}
		b := binding{
			t: t, landing: landing, landings: landings, isCurrent: i == 0,
			branch: branch, newest: newer + 1, oldest: at,
			inEffect: func() (int, bool, error) { return history.newestOf(branch, i) },
		}
		newer = at
		if landing.ByUser && i > 0 { // it is no candidate
			continue
		}
		key := healthKey(t.target, landing.First)
		was := known[key]
		if next, assumed := b.assumed(was); assumed {
			landings[i].Health = next
			if next != was {
				changes = append(changes, HealthChange{Key: key, State: next})
			}
			continue
		}
		if landings[i], err = h.readOne(ctx, b, *settings, was, taken); err != nil {
			return nil, err
		}
		if next := landings[i].Health; next != was {
			mirror := h.reader.Repository.Features().Statuses && !next.SameTimes(was)
			changes = append(changes, HealthChange{Key: key, State: next, Mirror: mirror})
		}
	}
	return changes, nil
}

// readOne returns a landing with its health, by what was known and what sources report now. It
// adds the objects that reported about it to those that are taken.
func (h *healthReader) readOne(
	ctx context.Context, b binding, settings setting.Health, was health.State, taken map[string]bool,
) (promotion.Landing, error) {
	l := b.landing
	reports, latest, err := h.reports(ctx, b, settings)
	if err != nil {
		return l, err
	}
	if latest {
		reports = slices.DeleteFunc(reports, func(r health.Report) bool { return taken[r.Subject] })
	}
	next, other, err := b.next(ctx, was, reports, taken)
	if err != nil {
		return l, err
	}
	l.Health = next
	l.HealthNote = b.note(other)
	if l.HealthNote == "" && settings.From != "" && h.reader.States == nil && !h.reader.Repository.Features().Statuses {
		l.HealthNote = "only the service knows what arrived at " + settings.From +
			": plain Git has no commit statuses that this command could read"
	}
	l.Running, err = b.running(ctx, other, next)
	return l, err
}

func healthKey(target promotion.Target, commit string) health.Key {
	application := target.Application
	if application == config.DefaultApplication {
		application = ""
	}
	return health.Key{Commit: commit, Context: health.Context(target.Environment, application)}
}

// known returns what was stored or mirrored about landings.
func (h *healthReader) known(
	ctx context.Context, target promotion.Target, landings []promotion.Landing,
) (map[health.Key]health.State, error) {
	known := map[health.Key]health.State{}
	var keys []health.Key
	for _, l := range landings {
		keys = append(keys, healthKey(target, l.First))
	}
	if h.reader.States != nil {
		stored, err := h.reader.States.Load(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("read the stored health: %w", err)
		}
		maps.Copy(known, stored)
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
			state, valid := health.ParseDescription(check.Description)
			if valid && check.Own && check.Name == k.Context {
				known[k] = state
			}
		}
	}
	return known, nil
}

// checks returns the statuses of a commit. A credential may be allowed to read only its own.
func (h *healthReader) checks(ctx context.Context, commit string) ([]scm.Check, error) {
	checks, err := h.statuses.Checks(ctx, commit)
	if err != nil && fault.KindOf(err) != fault.Unauthorized {
		return nil, fmt.Errorf("read the checks of %.7s: %w", commit, err)
	}
	return checks, nil
}

// reports returns the reports about the objects of a target: with latest, the latest of each
// object, otherwise what the forge has about one of the commits at which a landing was in
// effect, the newest first.
func (h *healthReader) reports(ctx context.Context, b binding, settings setting.Health) (reports []health.Report, latest bool, err error) {
	environment, application := b.t.target.Environment, b.t.target.Application
	settings = settings.For(environment, application)
	switch source := settings.Source(); {
	case source == health.Deployment:
		reports, err = h.deployments(ctx, settings.Deployment)
		return reports, true, err
	case source == health.Check:
		reports, err = h.checkReports(ctx, b, settings.Check)
		return reports, false, err
	case source == health.Flux && settings.From == "":
		reports, err = h.statusReports(ctx, b, source, settings.Flux, fluxContext(settings.Flux))
		return reports, false, err
	}
	for _, r := range b.t.o.Reports {
		if settings.Matches(r, environment, application) {
			reports = append(reports, r)
		}
	}
	return reports, true, nil
}

// checkReports returns what a commit status, or a check, says about a landing. It belongs to the versions and not to one
// commit: which run counts is as for the checks that conditions require.
func (h *healthReader) checkReports(ctx context.Context, b binding, name string) ([]health.Report, error) {
	if !h.reader.Repository.Features().Statuses {
		return nil, nil
	}
	is := func(other string) bool { return other == name }
	var later, runs []promotion.Check // the newest first
	var reports []health.Report       // of the runs
	asked := []int{b.oldest}
	newest, known, err := b.inEffect()
	if err != nil {
		return nil, err
	}
	if known {
		asked = append(asked, askedAfter(newest, b.oldest)...)
	}
	for i, position := range asked {
		commit := b.branch.commits[position].ID
		checks, err := h.checks(ctx, commit)
		if err != nil {
			return nil, err
		}
		var found []promotion.Check
		for _, check := range checks {
			found = append(found, repo.CheckOf(check))
		}
		found = slices.DeleteFunc(promotion.Interrupted(found), func(check promotion.Check) bool { return !isReport(check.Name, is) })
		end := len(runs)
		if i > 0 { // the landing itself is the oldest
			end = len(later)
			later = append(later, found...)
		}
		runs = slices.Insert(runs, end, found...)
		reports = slices.Insert(reports, end, reportsOf(checks, health.Check, name, commit, is)...)
		if at, state := promotion.CountingRun(runs); state == promotion.Passed && !runs[at].NoResult {
			break
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	at, state := promotion.CountingRun(runs)
	if state == promotion.Unknown { // it ended without a result
		reports[at].Status = health.Progressing
	}
	return reports[at : at+1], nil
}

// statusReports returns what the newest commit status with a matching name says about a landing.
// Of the current one, also later commits may have it.
func (h *healthReader) statusReports(
	ctx context.Context, b binding, source, subject string, matches func(name string) bool,
) ([]health.Report, error) {
	if !h.reader.Repository.Features().Statuses {
		return nil, nil
	}
	var searched []int
	if b.isCurrent {
		searched = askedAfter(b.newest, b.oldest)
	}
	for _, position := range append(searched, b.oldest) {
		commit := b.branch.commits[position].ID
		checks, err := h.checks(ctx, commit)
		if err != nil {
			return nil, err
		}
		if reports := reportsOf(checks, source, subject, commit, matches); len(reports) > 0 {
			return reports, nil
		}
	}
	return nil, nil
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

// isReport reports whether a check with a matching name is about health: promoter's own are not.
func isReport(name string, matches func(name string) bool) bool {
	return !health.IsContext(name) && name != promotion.StatusContext && matches(name)
}

func reportsOf(checks []scm.Check, source, subject, commit string, matches func(name string) bool) []health.Report {
	var found []health.Report
	for _, check := range checks {
		if !isReport(check.Name, matches) {
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
		report := health.Report{
			Source:    source,
			Subject:   subject,
			Status:    status,
			Message:   check.Description,
			Revisions: []string{commit},
			At:        check.At,
		}
		found = append(found, report.Bounded())
	}
	return found
}

// deployments returns the newest deployment to an environment of the forge.
func (h *healthReader) deployments(ctx context.Context, environment string) ([]health.Report, error) {
	reports, read := h.deployed[environment]
	forge, can := h.reader.Repository.(scm.Deployments)
	if read || !can {
		return reports, nil
	}
	deployment, found, err := forge.Deployed(ctx, environment)
	if err != nil {
		return nil, fmt.Errorf("read the deployments to %s: %w", environment, err)
	}
	if found {
		report := health.Report{
			Source:    health.Deployment,
			Subject:   environment,
			Status:    deployment.Status,
			Message:   deployment.Description,
			Revisions: []string{deployment.Commit},
			At:        deployment.At,
		}
		reports = []health.Report{report.Bounded()}
	}
	h.deployed[environment] = reports
	return reports, nil
}
