package pullrequest

import (
	"slices"
	"strings"

	"promoter/internal/command"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// Comments are the commands that users can write in comments.
type Comments struct {
	// Allowed are the users and teams that may give a command, where permissions cover
	// it; empty: those whom several permissions name. A verb without an entry is for all
	// users with write access.
	Allowed map[verb.Verb][]string
	// OnlyNamed: promoter can recognize only the users in Allowed, because the forge does
	// not show who has write access.
	OnlyNamed bool
	// Promote are the next environments that these applications enter only on request.
	Promote []string
}

// maxRejected is how many versions a command line names.
const maxRejected = 3

// writeActions lists what users can do now.
func (p Page) writeActions(b *markdown) {
	b.paragraph(p.mergeAction())
	var list markdown
	switch {
	case p.rewritesOnly():
		list.line("- **Close** it to leave the files in ", code(p.Environment.Name), " as they are; `unreject` undoes that.")
	case slices.ContainsFunc(p.Decisions, isAutomaticRollback):
		list.line("- **Close** it to keep the versions that failed; newer versions are still proposed.")
	case p.isRollback():
		list.line("- **Close** it to cancel the rollback; the hold stays until `resume`.")
	default:
		list.line("- **Close** it to reject these versions for ", code(p.Environment.Name),
			"; newer versions are still proposed. `unreject` undoes that.")
	}
	list.line("- **Edit:** if you push to this branch, promoter no longer changes it. Text outside of this section is kept.")
	list.line()
	list.table([]string{"to", "comment", "who may comment", "run"}, p.commandRows())
	b.fold("Actions", list.String())
}

// isRollback reports whether a user, or a failure, returns an application to the versions of
// before.
func (p Page) isRollback() bool {
	return slices.ContainsFunc(p.Decisions, promotion.Decision.IsRollback)
}

// isAutomaticRollback reports whether promoter itself decided on the rollback.
func isAutomaticRollback(d promotion.Decision) bool { return d.Reason.Rule == promotion.RuleOnFailure }

// mergeAction is how the pull request is merged; empty if it has to wait.
func (p Page) mergeAction() string {
	deploy := "**Merge** this pull request to deploy these versions"
	if p.rewritesOnly() {
		deploy = "**Merge** this pull request to write the same versions in this form"
	}
	_, waits := promotion.FirstBlocking(p.Gates, false)
	blocked := slices.ContainsFunc(p.Gates, func(gate promotion.Condition) bool { return gate.State == promotion.Blocked })
	switch {
	case isHeld(p.Proposal):
		return ""
	case p.Environment.Land != setting.LandAutomerge && waits:
		return deploy + ", when all gates have passed."
	case p.Environment.Land != setting.LandAutomerge:
		return deploy + "."
	case p.Step == propose.StepKeep:
		return ""
	case blocked:
		return "**Merge:** promoter cannot merge this pull request before a user changes a setting: see the merge gates."
	case waits:
		return "**Merge:** promoter merges this pull request when all gates have passed."
	default:
		return "**Merge:** promoter merges this pull request."
	}
}

// commandRows are the commands that have an effect now: in a comment, and on the
// command line.
func (p Page) commandRows() [][]string {
	var rows [][]string
	add := func(to string, v verb.Verb, argument, line string) {
		comment, who := "", ""
		if p.Comments != nil && v != "" && p.Comments.mayWork(v) {
			comment = code(strings.TrimSpace(command.Prefix + " " + string(v) + " " + argument))
			if len(p.Comments.Allowed) > 0 {
				who = p.Comments.who(v)
			}
		}
		if comment != "" || line != "" {
			rows = append(rows, []string{to, comment, who, cell(line)})
		}
	}
	application := "APPLICATION"
	if !p.Group && len(p.Decisions) == 1 {
		application = p.Decisions[0].Application
	}
	target := " --env " + p.Environment.Name + " --app " + application

	scope := p.Reason.Scope
	switch {
	case isHeld(p.Proposal) && scope == (state.Target{}): // the record cannot be read
	case isHeld(p.Proposal) && p.Reason.Rule == promotion.RuleFrozen:
		add("end the freeze", "", "", "promoter thaw"+freezeFlags(scope))
	case isHeld(p.Proposal) && (scope.Application == state.All || scope.Environment != p.Environment.Name ||
		scope.Application != application): // a comment applies to the applications here
		add("end the hold", "", "", "promoter resume"+scopeFlags(scope))
	case isHeld(p.Proposal):
		add("end the hold", verb.Resume, "", "promoter resume"+scopeFlags(scope))
	case p.isRollback():
		add("cancel the rollback", verb.Resume, "", "promoter resume"+target)
	default:
		add("stop promotions here; this pull request stays open", verb.Hold, "", "promoter hold"+target)
		add("end a hold", verb.Resume, "", "promoter resume"+target)
	}
	if !p.isRollback() && !p.rewritesOnly() {
		add("reject these versions in all environments", verb.Reject, "REASON", "promoter reject "+p.versions()+" --all")
		add("after the merge: restore the previous versions", verb.Rollback, "", "promoter rollback"+target)
	}
	if !p.isRollback() {
		add("undo a close, a rejection, or a revert", verb.Unreject, "", "promoter unreject "+p.versions()+target)
	}
	if p.Comments != nil {
		for _, environment := range p.Comments.Promote {
			add("after the merge: request the promotion to "+code(environment), verb.Promote, environment,
				"promoter promote --to "+environment+" --app "+application)
		}
	}
	add("query the registries, and update this pull request", verb.Refresh, "", "")
	add("show every condition and gate", verb.Explain, "", "")
	add("list the commands that you may use", verb.Help, "", "")
	return rows
}

// mayWork reports whether a user can be allowed to give a command.
func (c Comments) mayWork(v verb.Verb) bool {
	_, restricted := c.Allowed[v]
	switch v {
	case verb.Help, verb.Explain, verb.Refresh: // for all users that are named for a command
		restricted = len(c.Allowed) > 0
	}
	return restricted || !c.OnlyNamed
}

// who names the users who may give a command in a comment.
func (c Comments) who(v verb.Verb) string {
	named, restricted := c.Allowed[v]
	switch {
	case !restricted:
		return "users with write access"
	case len(named) == 0:
		return "users named by `permissions`"
	}
	quoted := make([]string, 0, len(named))
	for _, name := range named {
		quoted = append(quoted, cell(name))
	}
	return firstOf(quoted)
}

// freezeFlags selects the environment of a freeze, or the repository.
func freezeFlags(scope state.Target) string {
	if scope.Environment == state.All {
		return " --all"
	}
	return " --env " + scope.Environment
}

// scopeFlags selects the target of a hold that may be wider than an application.
func scopeFlags(scope state.Target) string {
	flags := ""
	if scope.Environment != state.All {
		flags += " --env " + scope.Environment
	}
	if scope.Application != state.All {
		return flags + " --app " + scope.Application
	}
	return flags
}

// versions names what the pull request changes to, as 'promoter reject' reads it.
func (p Page) versions() string {
	var names []string
	for _, m := range p.Moves() {
		if m.Form != "" {
			continue // the files have it already
		}
		name := m.Named()
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if text := strings.Join(names, " "); len(names) > 0 && len(names) <= maxRejected && len(text) < maxName/2 {
		return text
	}
	return "IMAGE..."
}
