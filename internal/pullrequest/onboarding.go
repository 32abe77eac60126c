package pullrequest

import (
	"fmt"
	"strconv"
	"strings"

	"promoter/internal/promotion"
)

// OnboardingBranch is the head of the pull request that adds a config file to a
// repository without one. No environment can have such a name. It must not change:
// a forge tells by it whether a repository was onboarded before.
const OnboardingBranch = promotion.HeadPrefix + "_onboarding"

// OnboardingTitle is the title of that pull request, and the subject of its commit.
const OnboardingTitle = "Configure promoter"

// Onboarding is the content of that pull request. All of it comes from the files
// of the repository and from registries.
type Onboarding struct {
	Base         string // the default branch
	Components   []OnboardingComponent
	Environments []OnboardingEnvironment
	Applications []string        // that the paths distinguish, if any
	Files        []OnboardingUse // by path
	Decisions    []promotion.Decision
	Unknown      []string          // why some decisions are unknown
	Guesses      []OnboardingGuess // the worst first
}

// OnboardingComponent is one component.
type OnboardingComponent struct {
	Name, Repository, Select string
	Present                  string // the versions in the files
}

// OnboardingEnvironment is one environment.
type OnboardingEnvironment struct {
	Name         string
	Paths, After []string
}

// OnboardingUse is how many references a file has.
type OnboardingUse struct {
	File  string
	Count int
}

// OnboardingGuess is something that the files do not prove, and that a user has to check.
type OnboardingGuess struct {
	Text      string
	Positions []string
	Advice    string
	More      int // guesses of the same kind that are not listed
}

// The lists are limited, so that there always is room for the instructions.
const (
	maxOnboardingRows    = 40
	maxOnboardingGuesses = 20
	maxOnboardingItems   = 10
)

// OnboardingBody returns promoter's part of the body of that pull request, with its
// markers.
func OnboardingBody(o Onboarding) string {
	var b markdown
	b.line(beginMarker)
	b.paragraph("This pull request adds a configuration for promoter, generated from the files of this repository. " +
		"promoter changes nothing until it is merged.")
	b.paragraph("**What to do**")
	b.line("- **Merge** this pull request to start. To correct the configuration first, push to this branch; ",
		"promoter then no longer changes it. Comments in the file explain each setting.")
	b.line("- **Close it** to decline. promoter does not ask this repository again. ",
		"You can add a `.promoter.yaml` to ", code(o.Base), " later.")
	b.line()
	o.writeGuesses(&b)
	o.writeFirst(&b)
	o.writeComponents(&b)
	o.writeEnvironments(&b)
	o.writeFiles(&b)
	b.paragraph("**After the merge**")
	b.line("- promoter reads `.promoter.yaml` from the default branch, and opens one pull request for each application ",
		"and environment for which a newer version is available. It pushes to no branch of an environment and merges nothing, ",
		"unless the configuration sets `land: push` or `land: automerge`.")
	b.line("- Its branches begin with `promoter/`. User decisions, such as holds, are stored on the branch `promoter/_state`.")
	b.line("- To stop it, delete the file.")
	b.line()
	b.line(endMarker)
	return truncate(strings.TrimSuffix(b.String(), "\n"), maxBody)
}

func (o Onboarding) writeComponents(b *markdown) {
	var rows [][]string
	for _, c := range o.Components {
		rows = append(rows, []string{cell(c.Name), cell(c.Repository), cell(c.Select), cell(c.Present)})
	}
	b.paragraph("**Components**")
	b.limitedTable([]string{"component", "repository", "selected versions", "current"}, rows)
}

func (o Onboarding) writeEnvironments(b *markdown) {
	var rows [][]string
	for _, e := range o.Environments {
		paths, after := "all files", "from the registries"
		if len(e.Paths) > 0 {
			paths = items(e.Paths, cell)
		}
		if len(e.After) > 0 {
			after = "after " + items(e.After, cell)
		}
		rows = append(rows, []string{cell(e.Name), paths, after})
	}
	applications := ""
	if len(o.Applications) > 0 {
		applications = ", for each application separately: " + items(o.Applications, code)
	}
	b.paragraph("**Environments**" + applications)
	b.limitedTable([]string{"environment", "files", "versions"}, rows)
}

func (o Onboarding) writeFiles(b *markdown) {
	total := 0
	var rows [][]string
	for _, use := range o.Files {
		total += use.Count
		rows = append(rows, []string{cell(use.File), strconv.Itoa(use.Count)})
	}
	files := "files"
	if len(rows) == 1 {
		files = "file"
	}
	b.paragraph(fmt.Sprintf("**References**: %d in %d %s", total, len(rows), files))
	b.limitedTable([]string{"file", "references"}, rows)
}

// writeFirst describes what happens after the merge.
func (o Onboarding) writeFirst(b *markdown) {
	var lines []string
	for _, first := range FirstReconciliation(o.Decisions) {
		for _, line := range first.Lines() {
			text := "- " + Sanitize(line.Text) + ": " + items(line.Promotions, code)
			if line.More > 0 {
				text += fmt.Sprintf(" and %d more", line.More)
			}
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		lines = []string{"- Nothing: the files have the selected versions already, or they are unknown."}
	}
	b.paragraph("**The first reconciliation** after the merge")
	b.limitedList(lines, maxOnboardingGuesses)
	lines = nil
	for _, why := range o.Unknown {
		lines = append(lines, "- Unknown: "+Sanitize(why)+".")
	}
	b.limitedList(lines, maxOnboardingItems)
}

// writeGuesses lists what a user has to check.
func (o Onboarding) writeGuesses(b *markdown) {
	if len(o.Guesses) == 0 {
		return
	}
	var lines []string
	for _, g := range o.Guesses {
		line := "- " + Sanitize(g.Text)
		if len(g.Positions) > 0 {
			line += " " + items(g.Positions, code)
		}
		line += " → " + Sanitize(g.Advice) + "."
		if g.More > 0 {
			line += fmt.Sprintf(" And %d more of the same kind.", g.More)
		}
		lines = append(lines, line)
	}
	b.paragraph("**Guesses to check**, the worst first")
	b.limitedList(lines, maxOnboardingGuesses)
}

func (m *markdown) limitedTable(head []string, rows [][]string) {
	m.table(head, rows[:min(len(rows), maxOnboardingRows)])
	m.more(len(rows) - maxOnboardingRows)
}

func (m *markdown) limitedList(lines []string, limit int) {
	if len(lines) == 0 {
		return
	}
	for _, line := range lines[:min(len(lines), limit)] {
		m.line(line)
	}
	m.more(len(lines) - limit)
	m.line()
}

// more counts what a list leaves out.
func (m *markdown) more(n int) {
	if n > 0 {
		m.line("…and ", strconv.Itoa(n), " more.\n")
	}
}

// items lists the first items and counts the others.
func items[T any](all []T, text func(T) string) string {
	var shown []string
	for _, item := range all[:min(len(all), maxOnboardingItems)] {
		shown = append(shown, text(item))
	}
	list := strings.Join(shown, ", ")
	if n := len(all) - maxOnboardingItems; n > 0 {
		list += " and " + strconv.Itoa(n) + " more"
	}
	return list
}
