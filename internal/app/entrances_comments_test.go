package app_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/command"
	"promoter/internal/verb"
)

// Each command of comments gets the answer of the table, for each author.
func TestEntrances_ofComments(t *testing.T) {
	t.Parallel()
	table := commentTable(t)
	words := []string{"bypass", "freeze", "thaw"} // those are no commands of comments
	for _, usage := range command.Usages() {
		words = append(words, string(usage.Verb))
	}
	for _, one := range verb.Decisions() {
		if !slices.Contains(words, string(one)) {
			t.Errorf("%s is no command of comments, and has no row", one)
		}
	}
	entrancesCover(t, table.title, words, table.whats())
	const bypass = "bypass: [{conditions: [soak], who: [bob]}]\n"
	reactions := map[string]string{}
	maps.Copy(reactions, playComments(t, table, "  []\n"+bypass, map[string]string{aboutEverything: "shop"}))
	maps.Copy(reactions, playComments(t, table, "  - {verbs: [hold, resume, promote], applications: [shop], who: [grace]}\n"+bypass,
		map[string]string{aboutInside: "shop", aboutOutside: "blog"}))
	table.compare(t, func(row entranceRow, principal string) string {
		reaction, _, _ := strings.Cut(reactions[row.what+row.about+principal], " ")
		return map[string]string{"": answerIgnored, "+1": answerYes, "-1": answerNo, "confused": answerUnclear}[reaction]
	})
}

// playComments writes the comments of rows about some applications, with permissions, and returns the reactions.
func playComments(t *testing.T, table entranceTable, permissions string, applications map[string]string) map[string]string {
	t.Helper()
	s := newStory(t, "github", entered)
	s.repo.Git.Commit("ada", "main", "Another application", map[string]string{
		"dev/blog.yaml": s.manifest("web:1.0.0"), "staging/blog.yaml": s.manifest("web:1.0.0"),
	})
	for _, image := range []string{"audit", "seals", "keys"} {
		s.release(image, "1.0.0")
	}
	for _, who := range []string{"eve", "grace"} {
		s.repo.Settings.Permit(who, "read")
	}
	s.repo.Settings.Permit("helper[bot]", "write")
	s.permitted(permissions)
	s.releaseAndRun("web", "1.1.0")
	numbers := map[string]int{}
	for _, pull := range s.repo.Pulls.All() {
		numbers[pull.Head] = pull.Number
	}
	reactions := map[string]string{}
	for _, row := range table.rows {
		application, played := applications[row.about]
		if !played {
			continue
		}
		for principal, id := range s.comments(row, numbers["promoter/dev/"+application]) {
			reactions[row.what+row.about+principal] = strings.Join(s.repo.Pulls.Reactions(id), " ")
		}
	}
	return reactions
}

// comments writes the comments of a row on a pull request, and runs. It returns their IDs by principal.
func (s *story) comments(row entranceRow, number int) map[string]int64 {
	s.t.Helper()
	authors := map[string]string{"writer": "bob", "reader": "eve", "named": "grace", "edited": "ada", "bot": "helper[bot]", "promoter": "promoter-bot"}
	text := "/promoter " + row.what
	switch row.what {
	case "promote":
		text += " staging"
	case "bypass":
		text = "/promoter promote staging --bypass soak incident"
	case "reject":
		text += " it leaks"
	}
	s.wait(time.Second)
	ids := map[string]int64{}
	for principal, author := range authors {
		ids[principal] = s.repo.Pulls.Comment(author, number, text)
	}
	s.wait(time.Second)
	s.repo.Pulls.Reword(ids["edited"], text)
	s.wait(2 * time.Second)
	s.pass()
	return ids
}
