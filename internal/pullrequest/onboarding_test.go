package pullrequest_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/promotion"

	"promoter/internal/config/field"
	"promoter/internal/pullrequest"
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
	var o pullrequest.Onboarding
	long := strings.Repeat("x", 3000)
	for i := range 500 {
		name := fmt.Sprint(long, i)
		o.Components = append(o.Components,
			pullrequest.OnboardingComponent{Name: name, Repository: name, Select: long, Present: long})
		o.Environments = append(o.Environments, pullrequest.OnboardingEnvironment{Name: name, Paths: []string{long, long}, After: []string{long}})
		o.Files = append(o.Files, pullrequest.OnboardingUse{File: name, Count: 2})
		o.Guesses = append(o.Guesses, pullrequest.OnboardingGuess{Text: long, Positions: []string{name}, Advice: "change it", More: 40})
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
		Base:         evil,
		Components:   []pullrequest.OnboardingComponent{{Name: evil, Repository: evil, Select: evil, Present: evil}},
		Environments: []pullrequest.OnboardingEnvironment{{Name: evil, Paths: []string{evil}, After: []string{evil}}},
		Applications: []string{evil}, Files: []pullrequest.OnboardingUse{{File: evil, Count: 1}},
		Guesses: []pullrequest.OnboardingGuess{{Text: evil, Positions: []string{evil}, Advice: evil, More: 1}}, Unknown: []string{evil},
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
	body := pullrequest.OnboardingBody(pullrequest.Onboarding{Base: "main", Unknown: []string{"component web: the registry did not answer"}})
	for _, words := range []string{"Nothing: the files have the selected versions already, or they are unknown.", "Unknown: component web: the registry did not answer."} {
		if !strings.Contains(body, words) {
			t.Errorf("it does not say %q:\n%s", words, body)
		}
	}
}
