package promotion_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/config"
	"promoter/internal/promotion"
)

// The branch of the offer is nobody's promotion: no environment has such a name, and
// it is no folder of the state branch or of a head branch.
func TestOnboardingBranch_isNoPlace(t *testing.T) {
	t.Parallel()
	if target, ours := promotion.ParseHead(promotion.OnboardingBranch); ours {
		t.Errorf("it is the head branch of %v", target)
	}
	_, name, _ := strings.Cut(promotion.OnboardingBranch, "/")
	if promotion.OnboardingBranch != "promoter/_onboarding" || config.ValidName(name) {
		t.Errorf("it is %s", promotion.OnboardingBranch)
	}
}

// However much there is, the text has room for how to begin and how to decline, and
// says how much is left out.
func TestOnboardingBody_bounded(t *testing.T) {
	t.Parallel()
	var o promotion.Onboarding
	long := strings.Repeat("x", 3000)
	for i := range 500 {
		name := fmt.Sprint(long, i)
		o.Components = append(o.Components,
			promotion.OnboardingComponent{Name: name, Repository: name, Select: long, Present: long},
			promotion.OnboardingComponent{Name: name, Repository: name, Off: long})
		o.Environments = append(o.Environments, promotion.OnboardingEnvironment{Name: name, Paths: []string{long, long}, After: []string{long}})
		o.Files = append(o.Files, promotion.OnboardingUse{File: name, Count: 2})
		o.Warnings = append(o.Warnings, promotion.OnboardingWarning{Text: long, Advice: long})
		o.Unknown = append(o.Unknown, long)
	}
	body := promotion.OnboardingBody(o)
	if n := utf8.RuneCountInString(body); n > 65_536 {
		t.Errorf("it has %d characters", n)
	}
	for _, words := range []string{"**Close it** to decline", "1000 in 500 files", "…and 460 more.", "<!-- promoter:end -->"} {
		if !strings.Contains(body, words) {
			t.Errorf("it does not say %q", words)
		}
	}
	if promotion.MergeBody(body, body) != body {
		t.Error("it is edited although nothing changed")
	}
}

func TestOnboardingBody_harmless(t *testing.T) {
	t.Parallel()
	evil := "@ann #1 --> <!-- promoter:end --> `x` | [a](https://evil.example.com)\n# big"
	body := promotion.OnboardingBody(promotion.Onboarding{
		Base:         evil,
		Components:   []promotion.OnboardingComponent{{Name: evil, Repository: evil, Select: evil, Present: evil}, {Repository: evil, Off: evil}},
		Environments: []promotion.OnboardingEnvironment{{Name: evil, Paths: []string{evil}, After: []string{evil}}},
		Applications: []string{evil}, Files: []promotion.OnboardingUse{{File: evil, Count: 1}},
		Warnings: []promotion.OnboardingWarning{{Text: evil, Advice: evil}}, Unknown: []string{evil},
	})
	inside := strings.TrimSuffix(strings.TrimPrefix(body, "<!-- promoter:begin -->"), "<!-- promoter:end -->")
	for _, sign := range []string{"@ann", "#1", "-->", "<!--", "\n# big"} {
		if strings.Contains(inside, sign) {
			t.Errorf("it holds %q:\n%s", sign, body)
		}
	}
}

func TestOnboardingBody_nothingFirst(t *testing.T) {
	t.Parallel()
	body := promotion.OnboardingBody(promotion.Onboarding{Base: "main", Unknown: []string{"component web: the registry did not answer"}})
	for _, words := range []string{"Nothing: the files hold what would be chosen, or it is not known.", "Not known: component web: the registry did not answer."} {
		if !strings.Contains(body, words) {
			t.Errorf("it does not say %q:\n%s", words, body)
		}
	}
}
