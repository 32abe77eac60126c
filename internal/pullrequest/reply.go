package pullrequest

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/command"
	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// ReplyMarker marks the one comment that replies to the commands on a pull
// request. It must not change.
const ReplyMarker = "<!-- promoter: answer -->"

// maxReply is the most runes of it; every forge accepts so many.
const maxReply = 60_000

// CommandReply is a command with the proposals that it is about.
type CommandReply struct {
	state.Reply
	Proposals []propose.Proposal
	// Lines show where the versions are on their way.
	Lines []string
}

// Verb returns the verb of the command; empty if there is none.
func (a CommandReply) Verb() verb.Verb {
	if a.Command == "" {
		return ""
	}
	return command.Parse(a.Command).Verb
}

// ShowsProposals reports whether the reply shows proposals.
func (a CommandReply) ShowsProposals() bool {
	v := a.Verb()
	return a.Reaction == string(scm.ReactionDone) && (v == verb.Explain || v == verb.Promote)
}

// ReplyBody returns the comment that replies to commands; empty if the reactions are
// enough.
func ReplyBody(all ...CommandReply) string {
	var b markdown
	for _, one := range all {
		if !one.ShowsProposals() && one.Message == "" {
			continue
		}
		about := Sanitize(one.Login)
		if one.Command != "" {
			about += ", " + code(command.Prefix+" "+one.Command)
		}
		message := "current state"
		if one.Verb() == verb.Promote {
			message = "requested; conditions and gates still apply"
		}
		b.paragraph("**" + about + ":** " + cmp.Or(Sanitize(one.Message), message) + ".")
		for _, p := range one.Proposals {
			writeProposal(&b, p)
		}
		for _, line := range one.Lines {
			b.line("- ", Sanitize(line))
		}
		if len(one.Lines) > 0 {
			b.line()
		}
		if one.Verb() == verb.Help || one.Reaction == string(scm.ReactionUnclear) {
			writeHelp(&b)
		}
	}
	text := strings.TrimRight(b.String(), "\n")
	if cut := printable.Shorten(text, maxReply); cut != text {
		return cut[:max(strings.LastIndexByte(cut, '\n'), 0)] + "\n\n*Truncated: the rest exceeds the size of a comment.*"
	}
	return text
}

// writeProposal shows the decisions of a proposal, with the tables of its pull
// request.
func writeProposal(b *markdown, p propose.Proposal) {
	for _, d := range p.Decisions {
		b.line("- ", code(d.Application), " in ", code(d.Environment), " is *", string(d.State), "*: ",
			Sanitize(cmp.Or(d.Reason.Message, "nothing differs")), until(d.Reason.Until), ".")
	}
	b.line()
	page := Page{Proposal: p}
	b.paragraph(unchangedNote(p))
	page.writeConditions(b, false)
	page.writeGates(b, false)
}

// writeHelp writes the table of the commands. No line of it begins like a command.
func writeHelp(b *markdown) {
	var rows [][]string
	for _, usage := range command.Usages() {
		rows = append(rows, []string{"`" + usage.String() + "`", usage.Help})
	}
	b.table([]string{"command", "effect"}, rows)
}

// Explained returns the proposals about targets, or only their decisions if there
// are no proposals.
func Explained(planned []propose.Proposal, decisions []promotion.Decision, targets []promotion.Target) []propose.Proposal {
	var all []propose.Proposal
	for _, target := range targets {
		about := func(d promotion.Decision) bool { return d.Target == target }
		contains := func(p propose.Proposal) bool { return slices.ContainsFunc(p.Decisions, about) }
		if slices.ContainsFunc(all, contains) {
			continue
		}
		if i := slices.IndexFunc(planned, contains); i >= 0 {
			all = append(all, planned[i])
		} else if i := slices.IndexFunc(decisions, about); i >= 0 {
			all = append(all, propose.Proposal{Decisions: decisions[i : i+1], Gates: decisions[i].Gates, Step: propose.StepWait})
		}
	}
	return all
}
