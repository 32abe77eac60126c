package pullrequest

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/command"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/scm"
	"promoter/internal/state"
)

// AnswerMarker marks the one comment that answers the commands on a pull request.
const AnswerMarker = "<!-- promoter: answer -->"

// maxAnswer is the most runes of it, so that every forge takes it.
const maxAnswer = 60_000

// Answered is a command with what it asks about.
type Answered struct {
	state.Answer
	Proposals []Proposal
}

// Verb returns the verb that was understood; empty: none was.
func (a Answered) Verb() verb.Verb {
	if a.Command == "" {
		return ""
	}
	return command.Parse(a.Command).Verb
}

// Asks says whether it is answered by where something stands.
func (a Answered) Asks() bool {
	v := a.Verb()
	return a.Reaction == string(scm.ReactionDone) && (v == verb.Explain || v == verb.Promote)
}

// Answer returns the text of the comment that answers commands; empty where the
// reactions say enough. What people and repositories call things is shown harmless.
func Answer(all ...Answered) string {
	var b writing
	for _, one := range all {
		if one.Asks() || one.Words != "" {
			one.write(&b)
		}
	}
	text := strings.TrimRight(b.String(), "\n")
	if cut := shorten(text, maxAnswer); cut != text {
		return cut[:max(strings.LastIndexByte(cut, '\n'), 0)] + "\n\n*The rest is left out: a comment has no room for more.*"
	}
	return text
}

func (a Answered) write(b *writing) {
	about := Sanitize(a.Login)
	if a.Command != "" {
		about += ", " + code(command.Prefix+" "+a.Command)
	}
	words := "so it stands"
	if a.Verb() == verb.Promote {
		words = "asked for; conditions and gates hold as ever"
	}
	b.paragraph("**" + about + ":** " + cmp.Or(Sanitize(a.Words), words) + ".")
	for _, p := range a.Proposals {
		p.explain(b)
	}
	if a.Verb() == verb.Help || a.Reaction == string(scm.ReactionUnclear) {
		help(b)
	}
}

// explain tells where the decisions of a proposal stand, with the tables of its
// pull request.
func (p Proposal) explain(b *writing) {
	for _, d := range p.Decisions {
		b.line("- ", code(d.Application), " in ", code(d.Environment), " is *", string(d.State), "*: ",
			Sanitize(cmp.Or(d.Reason.Message, "nothing differs")), until(d.Reason.Until), ".")
	}
	b.line()
	page := Page{Proposal: p}
	b.paragraph(page.standing())
	page.conditions(b)
	page.gates(b)
}

// help writes the table of the commands. No line of it begins like a command.
func help(b *writing) {
	var rows [][]string
	for _, usage := range command.Usages() {
		rows = append(rows, []string{"`" + usage.String() + "`", usage.Help})
	}
	b.table([]string{"command", "effect"}, rows)
}

// Explained finds what is to be told about places: the proposals that speak of
// them, else their decisions alone.
func Explained(planned []Proposal, decisions []promotion.Decision, targets []promotion.Target) []Proposal {
	var all []Proposal
	for _, target := range targets {
		about := func(d promotion.Decision) bool { return d.Target == target }
		speaks := func(p Proposal) bool { return slices.ContainsFunc(p.Decisions, about) }
		if slices.ContainsFunc(all, speaks) {
			continue
		}
		if i := slices.IndexFunc(planned, speaks); i >= 0 {
			all = append(all, planned[i])
		} else if i := slices.IndexFunc(decisions, about); i >= 0 {
			all = append(all, Proposal{Decisions: decisions[i : i+1], Gates: decisions[i].Gates, Step: StepWait})
		}
	}
	return all
}
