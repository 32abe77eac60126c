package config

import (
	"strings"

	"promoter/internal/verb"
)

func (l *serverLoader) permissions() {
	for _, raw := range l.raw.Permissions {
		l.required(raw.place, "permission", "verbs", raw.Verbs)
		l.required(raw.place, "permission", "who", raw.Who)
		var verbs []verb.Verb
		for _, name := range texts(raw.Verbs) {
			verbs = append(verbs, verb.Verb(name))
		}
		l.server.Permissions = append(l.server.Permissions, Permission{
			Position: raw.Position, Verbs: verbs, Who: l.who(raw.Who),
			Scope: l.scope(raw.Repositories, raw.Applications, raw.Environments),
		})
	}
	for _, raw := range l.raw.Bypass {
		l.required(raw.place, "bypass", "conditions", raw.Conditions)
		l.required(raw.place, "bypass", "who", raw.Who)
		l.server.Bypass = append(l.server.Bypass, Bypass{
			Position: raw.Position, Conditions: texts(raw.Conditions), Who: l.who(raw.Who),
			Scope: l.scope(raw.Repositories, raw.Applications, raw.Environments),
		})
	}
}

// required wants a list with something in it: an empty one would never hold, and
// its author believes that it does.
func (l *serverLoader) required(p place, what, key string, values list) {
	switch {
	case p.bad || values.bad || len(values.Value) > 0:
	case values.set():
		l.failf(values.Position, "name at least one", "%s of a %s is empty", key, what)
	default:
		l.failf(p.Position, "add "+key+": […]", "a %s has no %s", what, key)
	}
}

func (l *serverLoader) who(names list) []string {
	for _, name := range names.Value {
		if name.ok() && !validPrincipal(name.Value) {
			l.failf(name.Position, "write NAME or team:GROUP/NAME", "who: %q names neither a person nor a team", name.Value)
		}
	}
	return texts(names)
}

func (l *serverLoader) scope(repositories, applications, environments list) Scope {
	l.repositoryGlobs(repositories, "repositories")
	l.nameGlobs(applications, "application")
	l.nameGlobs(environments, "environment")
	l.somewhere(repositories, "repositories")
	l.somewhere(applications, "applications")
	l.somewhere(environments, "environments")
	return Scope{Repositories: texts(repositories), Applications: texts(applications), Environments: texts(environments)}
}

// somewhere wants a list with something in it where there is one: without the list
// the entry holds everywhere, which is not what an empty one looks like.
func (l *serverLoader) somewhere(globs list, key string) {
	if globs.set() && !globs.bad && len(globs.Value) == 0 {
		l.failf(globs.Position, "name at least one, or remove "+key+": then it holds for all", "%s is empty", key)
	}
}

func (l *serverLoader) nameGlobs(globs list, what string) {
	for _, glob := range globs.Value {
		if glob.ok() && !validAppGlob(glob.Value) {
			l.failf(glob.Position, "use "+nameGrammar+", and * for any part", "no %s can have a name like %q", what, glob.Value)
		}
	}
}

func (l *serverLoader) limits() {
	for _, raw := range l.raw.Limits {
		if raw.bad {
			continue
		}
		l.limit(raw)
		limit := Limit{Position: raw.Position, Approvals: raw.Approvals.Value, Scope: l.scope(raw.Repositories, list{}, raw.Environments)}
		for _, land := range values(raw.Land) {
			limit.Land = append(limit.Land, Land(land))
		}
		for _, propose := range values(raw.Propose) {
			limit.Propose = append(limit.Propose, Propose(propose))
		}
		l.server.Limits = append(l.server.Limits, limit)
	}
}

func (l *serverLoader) limit(raw *rawLimit) {
	if !raw.Land.set() && !raw.Propose.set() && !raw.Approvals.set() {
		l.failf(raw.Position, "add land: [pr, automerge], propose or approvals", "a limit limits nothing")
	}
	if raw.Land.ok() && len(raw.Land.Value) == 0 {
		l.failf(raw.Land.Position, "name what is allowed", "land of a limit allows nothing")
	}
	if raw.Propose.ok() && len(raw.Propose.Value) == 0 {
		l.failf(raw.Propose.Position, "name what is allowed", "propose of a limit allows nothing")
	}
	if raw.Approvals.ok() && (raw.Approvals.Value < 1 || raw.Approvals.Value > maxApprovals) {
		l.failf(raw.Approvals.Position, "remove approvals when none is needed", "approvals must be 1 to %d", maxApprovals)
	}
	pushes := strings.Contains(people(values(raw.Land)), string(LandPush))
	if raw.Approvals.Value > 0 && pushes {
		l.failf(raw.Approvals.Position, "leave push out of land", "a limit wants approvals and allows land: push, which has none")
	}
}
