package config

import "strings"

// maxApprovals is more than any forge's rules ask for.
const maxApprovals = 50

// gatesLayer checks what one layer says about gates, before it is merged.
func (l *loader) gatesLayer(g *rawGates) {
	if g == nil || g.bad {
		return
	}
	for _, window := range g.Windows.Value {
		l.known("window", window, l.windowNames)
	}
	l.checkNames(g.Checks, "gates.checks")
	a := g.Approvals
	if a == nil || a.bad {
		return
	}
	if a.Count.ok() && (a.Count.Value < 1 || a.Count.Value > maxApprovals) {
		l.failf(a.Count.Position, "remove approvals when none is needed", "approvals.count must be 1 to %d", maxApprovals)
	}
	if a.From.ok() && len(a.From.Value) == 0 {
		l.failf(a.From.Position, "leave from out for everybody who may write", "approvals.from is an empty list, so nobody could approve")
	}
	l.principals(a.From, "approvals.from")
}

// gatesMerged refuses more approvals than there are people to give them. A team
// counts as many, because its members are not known here.
func (l *loader) gatesMerged(s *settings) {
	if s.raw.Gates == nil || s.raw.Gates.Approvals == nil {
		return
	}
	a := s.raw.Gates.Approvals
	names := values(a.From)
	if len(names) == 0 || strings.Contains(people(names), teamPrefix) || or(a.Count, 1) <= len(names) {
		return
	}
	l.failf(a.Count.Position, "lower count, or name more people"+also(a.From.place, a.Count.place, "from"),
		"%d approvals are wanted from %d people: %s", a.Count.Value, len(names), people(names))
}

// teamPrefix stands before GROUP/NAME where a group of people is meant.
const teamPrefix = "team:"

// principals checks names of people and teams.
func (l *loader) principals(names list, key string) {
	for _, name := range names.Value {
		if name.ok() && !validPrincipal(name.Value) {
			l.failf(name.Position, "write NAME or team:GROUP/NAME", "%s: %q names neither a person nor a team", key, name.Value)
		}
	}
}

func validPrincipal(s string) bool {
	name, team := strings.CutPrefix(s, teamPrefix)
	if name == "" || strings.ContainsAny(name, " \t\n:@,") {
		return false
	}
	return strings.Contains(name, "/") == team && !strings.HasPrefix(name, "/") && !strings.HasSuffix(name, "/")
}
