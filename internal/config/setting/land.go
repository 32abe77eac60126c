package setting

import (
	"slices"
	"strings"

	"promoter/internal/strictyaml"
)

// Propose is who starts a promotion.
type Propose string

// The values of propose.
const (
	ProposeAutomatic Propose = "automatic"
	ProposeManual    Propose = "manual"
	ProposeNever     Propose = "never"
)

// Land is how a promotion reaches the branch.
type Land string

// The values of land.
const (
	LandPR        Land = "pr"        // users merge
	LandAutomerge Land = "automerge" // promoter merges when gates and required checks pass
	LandPush      Land = "push"      // promoter commits directly to the branch
)

// Newer is what a newer snapshot does to an open promotion.
type Newer string

// The values of newer.
const (
	NewerRefresh Newer = "refresh"
	NewerQueue   Newer = "queue"
	NewerDrain   Newer = "drain"
)

// defaultNewer keeps a promotion that a user requested as it was requested.
func defaultNewer(propose strictyaml.Located[string]) Newer {
	if propose.Value == string(ProposeManual) {
		return NewerQueue
	}
	return NewerRefresh
}

// checkPush refuses settings of a pull request next to land: push. Settings that an
// application inherits from its environment while it pushes itself are not used.
func checkPush(report *strictyaml.Report, environment string, raw *RawOverride) {
	p := raw.PullRequest
	if p == nil || p.Invalid || raw.Land.Value != string(LandPush) {
		return
	}
	var keys []string
	for _, k := range []struct {
		key string
		strictyaml.Origin
	}{
		{"title", p.Title.Origin},
		{"body", p.Body.Origin},
		{"labels", p.Labels.Origin},
		{"reviewers", p.Reviewers.Origin},
		{"assignees", p.Assignees.Origin},
		{"draft", p.Draft.Origin},
		{"limit", p.Limit.Origin},
		{"waitForChecks", p.WaitForChecks.Origin},
	} {
		if k.IsSet() {
			keys = append(keys, k.key)
		}
	}
	if len(keys) > 0 {
		fix := "write land: automerge, or remove pullRequest" + also(raw.Land.Origin, p.Origin, "land")
		report.Errorf(p.Position, fix,
			"land: push of %s opens no pull request that could have %s", environment, strings.Join(keys, ", "))
	}
}

// checkLandMerged refuses what needs a pull request where land: push opens none, and a
// draft that cannot be merged.
func checkLandMerged(report *strictyaml.Report, s *environment) {
	land, p := s.raw.Land, s.raw.PullRequest
	if land.Value == string(LandPush) && s.raw.Gates != nil {
		for _, gate := range gates {
			if at := gate.needsPullRequest(s.raw.Gates); at.IsSet() {
				report.Errorf(at.Position, gate.withoutPullRequest+also(land.Origin, at, "land"),
					"gates.%s needs a pull request, but %s has land: push", gate.key, s.name)
			}
		}
	}
	if p == nil {
		return
	}
	if land.Value == string(LandAutomerge) && p.Draft.Value {
		report.Errorf(p.Draft.Position, "remove draft, or write land: pr"+also(land.Origin, p.Draft.Origin, "land"),
			"land: automerge cannot merge a draft")
	}
	if land.Value == string(LandPush) && p.Group.Value == string(GroupEnvironment) {
		report.Errorf(p.Group.Position, "write land: automerge, or remove it"+also(land.Origin, p.Origin, "land"),
			"group: environment combines applications in one pull request, but land: push opens none")
	}
}

// checkNewerMerged validates newer against propose, and warns when there is no child that
// drain could wait for.
func checkNewerMerged(report *strictyaml.Report, s *environment, w *world) {
	newer, propose := s.raw.Newer, s.raw.Propose
	if propose.Value == string(ProposeManual) && newer.Valid() && newer.Value != string(NewerQueue) {
		const problem = "propose: manual keeps what a user requested until it is merged or closed, which contradicts newer: %s"
		fix := "remove newer, or write newer: queue" + also(propose.Origin, newer.Origin, "propose")
		report.Errorf(newer.Position, fix, problem, newer.Value)
	}
	if newer.Value != string(NewerDrain) {
		return
	}
	for _, name := range slices.Concat(w.children[s.name], w.names) {
		for _, e := range w.find(name).raw.After.Parents.Entries {
			if e.Key.Value == s.name && e.Value.any() {
				return
			}
		}
	}
	report.Warnf(newer.Position, "remove newer: drain, or add conditions to a child of "+s.name,
		"newer: drain of %s waits for the conditions of its children, but no child has any", s.name)
}
