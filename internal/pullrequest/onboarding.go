package pullrequest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/suggest"
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
	Base       string // the default branch
	Suggestion *suggest.Suggestion
	Decisions  []promotion.Decision
	Unknown    []string // why some decisions are unknown
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
	const opens = "opens one pull request for each application and environment for which a newer version is available."
	const exception = "unless the configuration sets `land: push` or `land: automerge`."
	b.line("- promoter reads `.promoter.yaml` from the default branch, and ", opens,
		" It pushes to no branch of an environment and merges nothing, ", exception)
	b.line("- Its branches begin with `promoter/`. User decisions, such as holds, are stored on the branch `promoter/_state`.")
	b.line("- To stop it, delete the file.")
	b.line()
	b.line(endMarker)
	return truncate(strings.TrimSuffix(b.String(), "\n"), maxBody)
}

func (o Onboarding) writeComponents(b *markdown) {
	var rows [][]string
	for i := range o.Suggestion.Components {
		if c := &o.Suggestion.Components[i]; c.Off == "" {
			rows = append(rows, []string{cell(c.Name), cell(c.Repository.String()), cell(c.Selected()), cell(c.Current)})
		}
	}
	b.paragraph("**Components**")
	b.limitedTable([]string{"component", "repository", "selected versions", "current"}, rows)
}

func (o Onboarding) writeEnvironments(b *markdown) {
	var rows [][]string
	for _, e := range o.Suggestion.Environments {
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
	if names := o.Suggestion.Applications; len(names) > 0 {
		applications = ", for each application separately: " + items(names, code)
	}
	b.paragraph("**Environments**" + applications)
	b.limitedTable([]string{"environment", "files", "versions"}, rows)
}

// writeFiles counts the references that could be changed, by file.
func (o Onboarding) writeFiles(b *markdown) {
	counts := map[string]int{}
	for _, r := range o.Suggestion.Inside {
		counts[r.Position.File]++
	}
	var rows [][]string
	for _, file := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, []string{cell(file), strconv.Itoa(counts[file])})
	}
	files := "files"
	if len(rows) == 1 {
		files = "file"
	}
	b.paragraph(fmt.Sprintf("**References**: %d in %d %s", len(o.Suggestion.Inside), len(rows), files))
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
	var lines []string
	for _, g := range o.Suggestion.Guesses {
		text, positions, advice := g.Lines()
		line := "- " + Sanitize(text)
		if len(positions) > 0 {
			line += " " + items(positions, code)
		}
		line += " → " + Sanitize(advice) + "."
		if g.More > 0 {
			line += fmt.Sprintf(" And %d more of the same kind.", g.More)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return
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
	texts := make([]string, len(all))
	for i, item := range all {
		texts[i] = text(item)
	}
	return printable.First(texts, maxOnboardingItems, " and")
}
