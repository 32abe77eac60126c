package pullrequest

import (
	"cmp"
	"slices"
	"strings"

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
func (a Answered) Verb() promotion.Verb {
	if a.Command == "" {
		return ""
	}
	command, _ := promotion.ReadCommand(promotion.CommandPrefix + " " + a.Command)
	return command.Verb
}

// Asks says whether it is answered by where something stands.
func (a Answered) Asks() bool {
	verb := a.Verb()
	return a.Reaction == string(scm.ReactionDone) && (verb == promotion.VerbExplain || verb == promotion.VerbPromote)
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
		about += ", " + code(promotion.CommandPrefix+" "+a.Command)
	}
	words := "so it stands"
	if a.Verb() == promotion.VerbPromote {
		words = "asked for; conditions and gates hold as ever"
	}
	b.paragraph("**" + about + ":** " + cmp.Or(Sanitize(a.Words), words) + ".")
	for _, p := range a.Proposals {
		p.explain(b)
	}
	if verb := a.Verb(); verb == promotion.VerbHelp || a.Reaction == string(scm.ReactionUnclear) {
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

// help is the table of the commands. None of its lines begins like one.
func help(b *writing) {
	b.table([]string{"command", "what it does"}, [][]string{
		{"`/promoter hold [reason]`", "nothing is proposed and nothing lands here; what is open stays open"},
		{"`/promoter resume [reason]`", "ends a hold, and forgets what was rejected or taken back here"},
		{"`/promoter reject REASON`", "the versions of this pull request are not proposed anywhere again; newer ones are"},
		{"`/promoter promote ENVIRONMENT`", "asks for the promotion into an environment; conditions and gates hold"},
		{"`/promoter refresh`", "reads the registries again, and brings this pull request up to date"},
		{"`/promoter explain`", "tells every condition and gate"},
		{"`/promoter help`", "tells this"},
	})
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
