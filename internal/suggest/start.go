package suggest

import (
	"fmt"

	"promoter/internal/config"
	"promoter/internal/config/setting"
)

// Start is how carefully an environment begins, so that the first reconciliation surprises
// no user.
type Start struct {
	Limited bool // few pull requests are open at a time
	Manual  bool // a user requests each promotion
}

const (
	maxFirstPromotions = 10 // in one environment
	maxFirstVersions   = 20 // in one promotion
	firstLimit         = 3  // open pull requests
)

// StartWith returns how an environment begins in which the first reconciliation may
// propose so many promotions, with at most so many versions in one.
func StartWith(promotions, versions int) Start {
	return Start{Limited: promotions > maxFirstPromotions, Manual: versions > maxFirstVersions}
}

// StartOf returns how an environment of a suggested config begins.
func StartOf(e *config.Environment) Start {
	return Start{Limited: e.PullRequest.Limit == firstLimit, Manual: e.Propose == setting.ProposeManual}
}

// Begin writes how the environments begin; those that are not named begin normally.
func (s *Suggestion) Begin(starts map[string]Start) {
	for i := range s.Environments {
		s.Environments[i].start = starts[s.Environments[i].Name]
	}
	s.Guesses = listGuesses(s.draft.guesses())
	s.Text = s.draft.render()
}

// startGuesses returns what was decided about the first reconciliation.
func (d *draft) startGuesses() (all []Guess) {
	for i := range d.Environments {
		e := &d.Environments[i]
		if e.start.Limited {
			all = append(all, Guess{
				Kind: GuessStart, About: []string{e.Name},
				Text: fmt.Sprintf("More than %d promotions are possible at once, so at most %d pull requests are open at a time.",
					maxFirstPromotions, firstLimit),
				Advice: "when you have seen the first ones, remove limit",
			})
		}
		if e.start.Manual && !d.isManual(e) {
			all = append(all, Guess{
				Kind: GuessStart, About: []string{e.Name},
				Text:   fmt.Sprintf("One promotion would change more than %d versions, so a user has to request it.", maxFirstVersions),
				Advice: "when you have seen the first one, remove propose: manual",
			})
		}
	}
	return all
}
