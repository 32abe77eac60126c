package modeltest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// choice is what of a story exercises a row: a condition, a gate, or a source of versions.
type choice struct {
	by     string                     // the key of the config, or the event
	states []promotion.ConditionState // that the condition or gate must have had
	hosted bool                       // only with pull requests and statuses
	sealed bool                       // only with a state branch whose requests are authentic
	rare   bool                       // not within some thousands of events
}

// choices are the rows that decisions report, by "KIND NAME", with what exercises each. A row that no
// decision of a long run has is an error, and so is one that is missing here: a new condition, gate, or
// source needs a choice in configs.go, and the events that make it change.
var choices = map[string]choice{ //nolint:gochecknoglobals // a table
	"condition healthy":      {by: "after.PARENT.healthy, reportHealth", states: states(promotion.Passed, promotion.Pending, promotion.Failed)},
	"condition soak":         {by: "after.PARENT.soak", states: states(promotion.Passed, promotion.Pending)},
	"condition checks":       {by: "after.PARENT.checks, reportSmoke", states: states(promotion.Passed, promotion.Pending, promotion.Failed), hosted: true},
	"condition tagged":       {by: "after.PARENT.tagged, moveStable", states: states(promotion.Passed, promotion.Pending)},
	"condition settle":       {by: "applications.NAME.settle", states: states(promotion.Passed, promotion.Pending)},
	"condition same_version": {by: "applications.NAME.sameVersion"},
	"condition drain":        {by: "newer: drain", states: states(promotion.Pending)},
	"condition newer":        {by: "newer: queue, pullRequest.waitForChecks", states: states(promotion.Pending), hosted: true},
	"condition pull request": {by: "pullRequest.group, pullRequest.waitForChecks", states: states(promotion.Pending), hosted: true, rare: true},
	"condition image":        {by: "deleteImage, rebuild, writeUnselected", states: states(promotion.Pending, promotion.Failed)},
	"condition min_age":      {by: "select.minAge", states: states(promotion.Pending)},
	"condition signature":    {by: "maybeSign, signaturesDown", states: states(promotion.Passed, promotion.Pending, promotion.Blocked)},
	"condition mirrored":     {by: "environments.NAME.mirrors, catchUp", states: states(promotion.Passed, promotion.Pending)},
	"condition freeze":       {by: "freeze, command with --bypass", states: states(promotion.Passed), rare: true, sealed: true},
	"condition source":       {by: "revert, reject", states: states(promotion.Failed)},
	"condition moving tag":   {by: "moveBack", states: states(promotion.Pending), rare: true},
	"condition unwanted":     {by: "reject, revert", states: states(promotion.Pending)},
	"gate window":            {by: "gates.windows", states: states(promotion.Passed, promotion.Pending)},
	"gate checks":            {by: "gates.checks, reportCheck", states: states(promotion.Passed, promotion.Pending, promotion.Failed), hosted: true},
	"gate approvals":         {by: "gates.approvals, review", states: states(promotion.Passed, promotion.Pending), hosted: true},
	"gate hold":              {by: "gates.hold, holdFile", states: states(promotion.Passed, promotion.Blocked)},
	"gate draft":             {by: "draft", states: states(promotion.Pending), hosted: true},
	"gate protection":        {by: "World.Protect, World.Queue", states: states(promotion.Passed, promotion.Pending, promotion.Blocked), hosted: true},
	"source registry":        {by: "release"},
	"source parents":         {by: "after"},
	"source several parents": {by: "after of two parents, one without the cart"},
	"source request":         {by: "hotfix"},
	"source posted":          {by: "post"},
	"source rollback":        {by: "rollback"},
	"source failure":         {by: "health.onFailure, reportHealth"},
}

func states(all ...promotion.ConditionState) []promotion.ConditionState { return all }

// countRows counts what a decision reports.
func countRows(s *story, d promotion.Decision) {
	s.t.Helper()
	count := func(row string, of promotion.ConditionState) {
		if _, known := choices[row]; !known {
			s.t.Errorf("%s/%s has %q, which the table of choices does not have", d.Environment, d.Application, row)
		}
		s.rows[row]++
		if of != "" {
			s.rows[row+" "+string(of)]++
		}
	}
	for _, c := range d.Conditions {
		if row := rowOfCondition(s, c); row != "" {
			count("condition "+row, c.State)
		}
	}
	for _, c := range d.Gates {
		count("gate "+rowOfGate(c), c.State)
	}
	for _, row := range rowsOfSource(s, d) {
		count(row, "")
	}
}

// rowOfCondition returns the row of a condition, by its name; empty: it only names a component without a
// version, or one that stays behind.
func rowOfCondition(s *story, c promotion.Condition) string {
	words := strings.Fields(c.Name)
	switch {
	case c.Name == "settle" || c.Name == "drain" || c.Name == "newer" || c.Name == "freeze" || c.Name == "moving tag":
		return c.Name
	case c.Name == string(promotion.RuleRejected) || c.Name == string(promotion.RuleReverted):
		return "unwanted"
	case strings.HasSuffix(c.Name, " signature") || strings.Contains(c.Reason, "signed"):
		return "signature"
	case strings.HasSuffix(c.Name, " mirrored"):
		return "mirrored"
	case s.names.known(words[0]) && len(words) == 1:
		return "source"
	case s.names.known(words[0]):
		return strings.Replace(words[1], "check", "checks", 1)
	case strings.HasPrefix(c.Reason, "minAge"):
		return "min_age"
	case (words[0] == "web" || words[0] == "worker") && len(words) > 1:
		return "image"
	case words[0] == "web" || words[0] == "worker":
		return ""
	}
	return c.Name
}

// rowOfGate returns the row of a gate, by its name.
func rowOfGate(c promotion.Condition) string {
	word, _, _ := strings.Cut(c.Name, " ")
	switch {
	case c.Forge:
		return "protection"
	case word == "windows":
		return "window"
	case word == "check":
		return "checks"
	}
	return word
}

// rowsOfSource returns where the versions of a decision come from, as far as its reason shows that.
func rowsOfSource(s *story, d promotion.Decision) (rows []string) {
	if d.Request != nil && len(d.Request.With) > 0 {
		if d.Request.Posted != "" {
			return []string{"source posted"}
		}
		return []string{"source request"}
	}
	if len(d.Moves) > 0 && len(parentsOf(s, s.configured, s.logical(state.Target(d.Target)))) > 1 {
		rows = append(rows, "source several parents")
	}
	row := map[promotion.Rule]string{
		promotion.RuleNewer: "source registry", promotion.RuleParent: "source parents", promotion.RuleRollback: "source rollback",
		promotion.RuleOnFailure: "source failure", promotion.RuleSameVersion: "condition same_version",
	}[d.Reason.Rule]
	if row != "" {
		rows = append(rows, row)
	}
	return rows
}

// A run of so long must have exercised every row within so many events, and what is rare, and every state
// of each row, within most of them. With fewer, it logs what it missed.
const (
	longRun    = 30 * time.Second
	manyEvents = 5_000
	mostEvents = 40_000
)

// checkRows checks that the stories of a long run exercised every row of the table.
func checkRows(t *testing.T, all counts) {
	t.Helper()
	report := func(events int) func(format string, args ...any) {
		if all.events < events {
			return t.Logf
		}
		return t.Errorf
	}
	for _, row := range slices.Sorted(maps.Keys(choices)) {
		one := choices[row]
		if one.hosted && !all.hosted || one.sealed && !all.sealed {
			continue
		}
		of := manyEvents
		if one.rare {
			of = mostEvents
		}
		if all.rows[row] == 0 {
			report(of)("no story exercised %s, which %s should", row, one.by)
			continue
		}
		for _, state := range one.states {
			if all.rows[row+" "+string(state)] == 0 {
				report(mostEvents)("in no story %s was %s, which %s should cause", row, state, one.by)
			}
		}
	}
}
