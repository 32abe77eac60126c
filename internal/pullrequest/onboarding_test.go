package pullrequest_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/config/field"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/suggest"
)

// The onboarding branch is not a promotion: no environment has such a name, and it is not a
// folder of the state branch or of a head branch.
func TestOnboardingBranch_isNoTarget(t *testing.T) {
	t.Parallel()
	if target, ours := promotion.ParseHead(pullrequest.OnboardingBranch); ours {
		t.Errorf("it is the head branch of %v", target)
	}
	_, name, _ := strings.Cut(pullrequest.OnboardingBranch, "/")
	if pullrequest.OnboardingBranch != "promoter/_onboarding" || field.ValidName(name) {
		t.Errorf("it is %s", pullrequest.OnboardingBranch)
	}
}

// A long list leaves room for how to begin and how to decline, and the text reports how much
// is omitted.
func TestOnboardingBody_bounded(t *testing.T) {
	t.Parallel()
	var s suggest.Suggestion
	o := pullrequest.Onboarding{Suggestion: &s}
	long := strings.Repeat("x", 3000)
	for i := range 500 {
		name := fmt.Sprint(long, i)
		at := edit.Position{File: name}
		s.Components = append(s.Components, suggest.Component{Name: name, Select: image.Selection{Tag: long}, Current: long})
		s.Environments = append(s.Environments, suggest.Environment{Name: name, Paths: []string{long, long}, After: []string{long}})
		s.Inside = append(s.Inside, edit.Reference{Position: at}, edit.Reference{Position: at})
		s.Guesses = append(s.Guesses, suggest.Guess{Text: long, Positions: []edit.Position{at}, Advice: "change it", More: 40})
		o.Unknown = append(o.Unknown, long)
	}
	body := pullrequest.OnboardingBody(o)
	if n := utf8.RuneCountInString(body); n > 65_536 {
		t.Errorf("it has %d characters", n)
	}
	for _, words := range []string{"**Close it** to decline", "1000 in 500 files", "…and 460 more.", "And 40 more of the same kind.", "<!-- promoter:end -->"} {
		if !strings.Contains(body, words) {
			t.Errorf("it does not say %q", words)
		}
	}
	if pullrequest.MergeBody(body, body) != body {
		t.Error("it is edited although nothing changed")
	}
}

func TestOnboardingBody_sanitized(t *testing.T) {
	t.Parallel()
	evil := "@ann #1 --> <!-- promoter:end --> `x` | [a](https://evil.example.com)\n# big"
	body := pullrequest.OnboardingBody(pullrequest.Onboarding{
		Base: evil, Unknown: []string{evil}, Suggestion: &suggest.Suggestion{
			Components:   []suggest.Component{{Name: evil, Select: image.Selection{Tag: evil}, Current: evil}},
			Environments: []suggest.Environment{{Name: evil, Paths: []string{evil}, After: []string{evil}}},
			Applications: []string{evil}, Inside: []edit.Reference{{Position: edit.Position{File: evil}}},
			Guesses: []suggest.Guess{{Text: evil, Positions: []edit.Position{{File: evil}}, Advice: evil, More: 1}},
		},
	})
	inside := strings.TrimSuffix(strings.TrimPrefix(body, "<!-- promoter:begin -->"), "<!-- promoter:end -->")
	for _, sign := range []string{"@ann", "#1", "-->", "<!--", "\n# big"} {
		if strings.Contains(inside, sign) {
			t.Errorf("it holds %q:\n%s", sign, body)
		}
	}
}

func TestOnboardingBody_nothingToPropose(t *testing.T) {
	t.Parallel()
	body := pullrequest.OnboardingBody(pullrequest.Onboarding{
		Base: "main", Suggestion: &suggest.Suggestion{}, Unknown: []string{"component web: the registry did not answer"},
	})
	for _, words := range []string{"Nothing: the files have the selected versions already, or they are unknown.", "Unknown: component web: the registry did not answer."} {
		if !strings.Contains(body, words) {
			t.Errorf("it does not say %q:\n%s", words, body)
		}
	}
}
