package pullrequest

import (
	"strconv"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/config"
)

// OnboardingBranch is the head of the pull request that offers a config file to a
// repository without one. No environment can have such a name. It must not change:
// by it a forge tells whether a repository was asked before.
const OnboardingBranch = promotion.HeadPrefix + "_onboarding"

// OnboardingTitle is the title of that pull request, and the subject of its commit.
const OnboardingTitle = "Add .promoter.yaml, so that promoter follows this repository"

// Onboarding is what that pull request tells. All of it comes from the files of the
// repository and from registries.
type Onboarding struct {
	Base         string // the default branch
	Components   []OnboardingComponent
	Environments []OnboardingEnvironment
	Applications []string             // that the paths tell apart; may be none
	Files        []OnboardingUse      // by path
	Decisions    []promotion.Decision // what the config would lead to now
	Unknown      []string             // why some of that is not known
	Warnings     []OnboardingWarning
}

// OnboardingComponent is one row of what is followed.
type OnboardingComponent struct {
	Name, Repository, Select string
	Present                  string // the versions in the files
	Off                      string // why it is not followed; empty: it is
}

// OnboardingEnvironment is one row of where versions go.
type OnboardingEnvironment struct {
	Name         string
	Paths, After []string
}

// OnboardingUse is how many references a file holds.
type OnboardingUse struct {
	File  string
	Count int
}

// OnboardingWarning is something that a person has to decide.
type OnboardingWarning struct{ Text, Advice string }

// Bounds of the lists, so that the whole of it always has room for how to decline.
const (
	onboardingRows  = 40
	onboardingItems = 10
)

// OnboardingBody is our part of the text of that pull request, with its markers. It
// holds the commands of nobody: outside text is shown harmless.
func OnboardingBody(o Onboarding) string {
	var b writing
	b.line(beginMarker)
	b.paragraph("This adds a config file for promoter, made from what stands in this repository. Nothing is followed or changed before it is merged.")
	b.paragraph("**What to do**")
	b.line("- **Merge it** to begin. Change it first where it guessed wrong: push to this branch, and promoter leaves it to you. The comments in the file say why each line is there.")
	b.line("- **Close it** to decline. promoter does not ask this repository again, whoever closes it; a `.promoter.yaml` on ", code(o.Base), " begins at any time.")
	b.line()
	o.components(&b)
	o.environments(&b)
	o.uses(&b)
	o.first(&b)
	o.missing(&b)
	o.after(&b)
	b.line(endMarker)
	return fit(strings.TrimSuffix(b.String(), "\n"), maxBody)
}

func (o Onboarding) components(b *writing) {
	var rows [][]string
	for _, c := range o.Components {
		if c.Off == "" {
			rows = append(rows, []string{cell(c.Name), cell(c.Repository), cell(c.Select), cell(c.Present)})
		}
	}
	b.paragraph("**What it would follow**")
	b.table([]string{"component", "repository", "which tags are versions", "in the files"}, rows[:min(len(rows), onboardingRows)])
	more(b, len(rows)-onboardingRows)
}

func (o Onboarding) environments(b *writing) {
	var rows [][]string
	for _, e := range o.Environments {
		paths, after := "the whole tree", "from the registries"
		if len(e.Paths) > 0 {
			paths = items(e.Paths, cell)
		}
		if len(e.After) > 0 {
			after = "after " + items(e.After, cell)
		}
		rows = append(rows, []string{cell(e.Name), paths, after})
	}
	b.paragraph("**Where versions would go**" + o.applications())
	b.table([]string{"environment", "files", "versions"}, rows[:min(len(rows), onboardingRows)])
	more(b, len(rows)-onboardingRows)
}

// applications names what travels apart.
func (o Onboarding) applications() string {
	if len(o.Applications) == 0 {
		return ""
	}
	return ", for each application by itself: " + items(o.Applications, code)
}

func (o Onboarding) uses(b *writing) {
	total := 0
	var rows [][]string
	for _, use := range o.Files {
		total += use.Count
		rows = append(rows, []string{cell(use.File), strconv.Itoa(use.Count)})
	}
	b.paragraph("**Where references stand**: " + strconv.Itoa(total) + " in " + counted(len(rows), "file"))
	b.table([]string{"file", "references"}, rows[:min(len(rows), onboardingRows)])
	more(b, len(rows)-onboardingRows)
}

// first is what would happen at once.
func (o Onboarding) first(b *writing) {
	b.paragraph("**What would be proposed first**")
	n := 0
	for _, d := range o.Decisions {
		if d.State != promotion.Proposed || len(d.Moves) == 0 {
			continue
		}
		if n++; n > onboardingRows {
			continue
		}
		var moves []string
		for _, m := range d.Moves {
			moves = append(moves, code(m.Component+" "+promotion.Label(m.From)+" -> "+promotion.Label(m.To)))
		}
		b.line("- ", code(placeName(d.Target)), ": ", items(moves, func(text string) string { return text }))
	}
	if n == 0 {
		b.line("- Nothing: the files hold what would be chosen, or it is not known.")
	}
	more(b, n-onboardingRows)
	b.line()
}

// missing is what a person has to look at.
func (o Onboarding) missing(b *writing) {
	var lines []string
	for _, c := range o.Components {
		if c.Off != "" {
			lines = append(lines, "- "+code(c.Repository)+" is not followed: "+Sanitize(c.Off))
		}
	}
	for _, w := range o.Warnings {
		lines = append(lines, "- "+Sanitize(w.Text)+": "+Sanitize(w.Advice)+".")
	}
	for _, why := range o.Unknown {
		lines = append(lines, "- Not known: "+Sanitize(why)+".")
	}
	if len(lines) == 0 {
		return
	}
	b.paragraph("**What was not found, or is for you to decide**")
	for _, line := range lines[:min(len(lines), onboardingRows)] {
		b.line(line)
	}
	more(b, len(lines)-onboardingRows)
	b.line()
}

func (Onboarding) after(b *writing) {
	b.paragraph("**What happens after the merge**")
	b.line("- promoter reads `.promoter.yaml` from the default branch alone, and opens one pull request for each application and environment in which a newer version is wanted. It pushes to no branch of an environment and merges nothing unless the file says `land: push` or `land: automerge`.")
	b.line("- Its branches begin with `promoter/`. What people decide, such as a hold, is kept on the branch `promoter/_state`.")
	b.line("- To stop it, delete the file.")
	b.line()
}

// placeName leaves the application out where there is one alone.
func placeName(p promotion.Target) string {
	if p.Application == config.DefaultApplication || p.Application == "" {
		return p.Environment
	}
	return p.Environment + "/" + p.Application
}

// items shows the first of a list and counts the others.
func items(all []string, show func(string) string) string {
	var shown []string
	for _, item := range all[:min(len(all), onboardingItems)] {
		shown = append(shown, show(item))
	}
	text := strings.Join(shown, ", ")
	if n := len(all) - onboardingItems; n > 0 {
		text += " and " + strconv.Itoa(n) + " more"
	}
	return text
}

// more counts what a list leaves out.
func more(b *writing, n int) {
	if n > 0 {
		b.line("…and ", strconv.Itoa(n), " more.\n")
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
