package suggest_test

import (
	"testing"

	"promoter/internal/image"
	"promoter/internal/suggest"
	"promoter/internal/suggest/bots"
)

// Whatever other bots select, nothing wider is suggested: what cannot be combined selects
// only the tags in the files.
func TestConfig_withinOtherBots(t *testing.T) {
	t.Parallel()
	digest := "a.io/x/web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, test := range map[string]struct {
		reference string
		rules     []bots.Rule
		want      string
		kind      suggest.GuessKind
	}{
		"a selection":                {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Semver: "~1.4"}}}, "{semver: '~1.4'}", suggest.GuessPolicy},
		"two ranges":                 {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Semver: "~1.4"}}, {Selection: image.Selection{Semver: ">=1.2"}}}, "{semver: '~1.4 >=1.2'}", suggest.GuessPolicy},
		"one filter":                 {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Semver: "1"}}, {Selection: image.Selection{Semver: "1", Filter: "^1"}}}, "{semver: '1', filter: '^1'}", suggest.GuessPolicy},
		"two filters":                {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Semver: "1", Filter: "^a"}}, {Selection: image.Selection{Semver: "1", Filter: "^1"}}}, `{alphabetical: '^(1\.4\.2)$'}`, suggest.GuessNarrowed},
		"two ways":                   {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Numeric: ".*"}}, {Selection: image.Selection{Semver: "1"}}}, `{alphabetical: '^(1\.4\.2)$'}`, suggest.GuessNarrowed},
		"an invalid range":           {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Semver: "what"}}}, `{alphabetical: '^(1\.4\.2)$'}`, suggest.GuessNarrowed},
		"a limit":                    {"a.io/x/web:1.4.2", []bots.Rule{{Range: "<1.6"}, {Exclude: []string{"^1.5"}}}, "{semver: '>=1.4.2 <1.6', exclude: ['^1.5']}", suggest.GuessPolicy},
		"a limit and a selection":    {"a.io/x/web:1.4.2", []bots.Rule{{Selection: image.Selection{Semver: "~1.4"}}, {Range: "<1.4.9"}}, "{semver: '~1.4 <1.4.9'}", suggest.GuessPolicy},
		"a limit of another scheme":  {"a.io/x/web:main-0a1b2c3", []bots.Rule{{Range: "<1.6"}}, "{alphabetical: '^(main-0a1b2c3)$'}", suggest.GuessNarrowed},
		"a limit of a moving tag":    {"a.io/x/web:main", []bots.Rule{{Range: "<1.6"}, {NoMinor: true}}, "{tag: main}", suggest.GuessScheme},
		"a pattern beside a pattern": {"a.io/x/web:1.4.2-alpine", []bots.Rule{{Filter: "alpine"}}, `{alphabetical: '^(1\.4\.2-alpine)$'}`, suggest.GuessNarrowed},
		"no minor version":           {"a.io/x/web:1.4.2", []bots.Rule{{NoMinor: true}}, "{semver: '>=1.4.2 <1.5'}", suggest.GuessPolicy},
		"no minor of a prerelease":   {"a.io/x/web:1.4.0-rc.1", []bots.Rule{{NoMinor: true}}, "{semver: '>=1.4.0-rc.1 <1.5'}", suggest.GuessPolicy},
		"no equivalent":              {"a.io/x/web:1.4.2", []bots.Rule{{Problem: "it is odd"}}, `{alphabetical: '^(1\.4\.2)$'}`, suggest.GuessNarrowed},
		"no tag":                     {digest, []bots.Rule{{Problem: "it is odd"}}, "{tag: latest}", suggest.GuessUnclearTags},
		"nothing printable":          {"a.io/x/web:1.4.2", []bots.Rule{{Filter: "\x00"}}, `{alphabetical: '^(1\.4\.2)$'}`, suggest.GuessNarrowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := found(t, "dev/d.yaml "+test.reference)
			for _, rule := range test.rules {
				rule.Source, rule.Applies = "A bot\n\x00 (f.yaml)", func(image.Repository) bool { return true }
				f.Bots.Rules = append(f.Bots.Rules, rule)
			}
			s := suggestion(t, f)
			if got := s.Components[0].Selected(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if len(guessesOf(s, test.kind)) != 1 {
				t.Errorf("guesses: %+v", s.Guesses)
			}
		})
	}
}

// A selection of several tags in the files would move one to another, so the component is
// not followed; unless it is the only one, because a config needs one.
func TestConfig_severalTagsWithoutAnEquivalent(t *testing.T) {
	t.Parallel()
	references := []string{"dev/a.yaml a.io/x/web:dev-1", "dev/b.yaml a.io/x/web:prod-2"}
	for _, test := range []struct {
		references []string
		off        string
	}{
		{append([]string{"dev/c.yaml a.io/x/api:1.4.2"}, references...), "A bot has no equivalent here: it is odd. The files have several tags."},
		{references, ""},
	} {
		f := found(t, test.references...)
		f.Bots.Rules = []bots.Rule{{
			Source: "A bot", Problem: "it is odd",
			Applies: func(r image.Repository) bool { return r.Path() == "x/web" },
		}}
		for _, c := range suggestion(t, f).Components {
			if c.Name == "web" && c.Off != test.off {
				t.Errorf("of %v: web is off because %q, want %q", test.references, c.Off, test.off)
			}
		}
	}
}
