package config

import "strings"

// landMerged refuses what land: push can never do: it writes straight to the
// branch, so there is no pull request to check, approve or describe.
func (l *loader) landMerged(s *settings) {
	land := s.raw.Land
	if land.Value == string(LandPush) {
		l.pushGates(s, land)
	}
	p := s.raw.PullRequest
	if p != nil && land.Value == string(LandAutomerge) && p.Draft.Value {
		l.failf(p.Draft.Position, "remove draft, or write land: pr"+also(land.place, p.Draft.place, "land"),
			"land: automerge cannot merge a draft")
	}
	if p != nil && land.Value == string(LandPush) {
		l.pushPullRequest(p, land)
	}
}

func (l *loader) pushGates(s *settings, land at[string]) {
	g := s.raw.Gates
	if g == nil {
		return
	}
	const advice = "write land: automerge"
	if len(g.Checks.Value) > 0 {
		l.failf(g.Checks.Position, advice+", or ask for the checks under after of a child"+also(land.place, g.Checks.place, "land"),
			"gates.checks needs a pull request, but %s has land: push", s.name)
	}
	if g.Approvals != nil && g.Approvals.set() {
		l.failf(g.Approvals.Position, advice+", or propose: manual"+also(land.place, g.Approvals.place, "land"),
			"gates.approvals needs a pull request, but %s has land: push", s.name)
	}
}

// pushPullRequest refuses group: environment in any case, and words of a pull
// request where they stand beside land: push. Words that an application inherits
// from its environment while it pushes itself are simply not used.
func (l *loader) pushPullRequest(p *rawPullRequest, land at[string]) {
	hint := "write land: automerge, or remove it" + also(land.place, p.place, "land")
	if p.Group.Value == string(GroupEnvironment) {
		l.failf(p.Group.Position, hint, "group: environment makes one pull request of all, but land: push opens none")
	}
}

// pushWords looks at one layer as it stands in the file.
func (l *loader) pushWords(environment string, raw *rawOverride) {
	p := raw.PullRequest
	if p == nil || p.bad || raw.Land.Value != string(LandPush) {
		return
	}
	var keys []string
	for _, k := range []struct {
		key string
		place
	}{
		{"title", p.Title.place},
		{"body", p.Body.place},
		{"labels", p.Labels.place},
		{"reviewers", p.Reviewers.place},
		{"assignees", p.Assignees.place},
		{"draft", p.Draft.place},
		{"limit", p.Limit.place},
	} {
		if k.set() {
			keys = append(keys, k.key)
		}
	}
	if len(keys) > 0 {
		l.failf(p.Position, "write land: automerge, or remove pullRequest"+also(raw.Land.place, p.place, "land"),
			"land: push of %s opens no pull request that could have %s", environment, strings.Join(keys, ", "))
	}
}
