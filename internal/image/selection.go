package image

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/Masterminds/semver/v3"
)

// maxExpression bounds ranges and regular expressions, in bytes. Those of Go
// take linear time, so the length is all that needs a bound.
const maxExpression = 1024

// versionGroup is the named group of a regular expression whose text is
// compared. Without one the whole tag is.
const versionGroup = "version"

// Selection says which tags of a repository are versions and which of them is
// the best. Exactly one of the first six fields is set.
type Selection struct {
	Semver       string // range; a prerelease matches only where the range names one, and then <2 holds 2.0.0-rc.1
	Tag          string // name of a moving tag
	Newest       string // regular expression; the created time decides
	Numeric      string // regular expression; numbers are compared
	Alphabetical string // regular expression; bytes are compared
	Release      string // FORGE/OWNER/REPO

	Filter  string   // regular expression; only with Semver
	Exclude []string // regular expressions
}

// strategy is one of the six ways to select.
type strategy string

const (
	bySemver       strategy = "semver"
	byTag          strategy = "tag"
	byNewest       strategy = "newest"
	byNumeric      strategy = "numeric"
	byAlphabetical strategy = "alphabetical"
	byRelease      strategy = "release"
)

// strategy returns the one strategy that is set, and its value.
func (s Selection) strategy() (chosen strategy, value string, err error) {
	for _, candidate := range []struct {
		strategy strategy
		value    string
	}{
		{bySemver, s.Semver},
		{byTag, s.Tag},
		{byNewest, s.Newest},
		{byNumeric, s.Numeric},
		{byAlphabetical, s.Alphabetical},
		{byRelease, s.Release},
	} {
		if candidate.value == "" {
			continue
		}
		if chosen != "" {
			return "", "", fmt.Errorf("both %s and %s are set: keep one", chosen, candidate.strategy)
		}
		chosen, value = candidate.strategy, candidate.value
	}
	if chosen == "" {
		return "", "", errors.New("nothing is selected: set one of semver, tag, newest, numeric, alphabetical, release")
	}
	return chosen, value, nil
}

// NewPolicy compiles a selection.
func NewPolicy(s Selection) (*Policy, error) {
	chosen, value, err := s.strategy()
	if err != nil {
		return nil, err
	}
	p := &Policy{strategy: chosen, value: value}
	if err := p.compile(); err != nil {
		return nil, fmt.Errorf("%s: %w", chosen, err)
	}
	if err := p.setFilter(s.Filter); err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	for _, exclude := range s.Exclude {
		expression, err := compileExpression(exclude)
		if err != nil {
			return nil, fmt.Errorf("exclude: %w", err)
		}
		p.exclude = append(p.exclude, expression)
	}
	return p, nil
}

// compile reads the value of the strategy.
func (p *Policy) compile() (err error) {
	switch p.strategy {
	case bySemver:
		p.within, err = compileRange(p.value)
	case byTag:
		if !ValidTag(p.value) {
			err = errTag
		}
	case byRelease:
		err = checkRelease(p.value)
	default:
		p.filter, err = compileExpression(p.value)
	}
	return err
}

func (p *Policy) setFilter(filter string) (err error) {
	if filter == "" {
		return nil
	}
	if p.strategy != bySemver {
		return fmt.Errorf("it goes with semver only, not with %s", p.strategy)
	}
	p.filter, err = compileExpression(filter)
	return err
}

func compileRange(s string) (*semver.Constraints, error) {
	if len(s) > maxExpression {
		return nil, fmt.Errorf("the range is longer than %d bytes", maxExpression)
	}
	within, err := semver.NewConstraint(s)
	if err != nil {
		return nil, fmt.Errorf("%s is not a range like \">=1.4 <2\", \"^3\" or \"1.2.x\"", quote(s))
	}
	return within, nil
}

func compileExpression(s string) (*regexp.Regexp, error) {
	if len(s) > maxExpression {
		return nil, fmt.Errorf("the regular expression is longer than %d bytes", maxExpression)
	}
	expression, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	names := expression.SubexpNames()
	if i := slices.Index(names, versionGroup); i >= 0 && slices.Contains(names[i+1:], versionGroup) {
		return nil, fmt.Errorf("two groups are named %s", versionGroup)
	}
	return expression, nil
}

// checkRelease wants FORGE/OWNER/REPO; GitLab's owners may have slashes.
func checkRelease(s string) error {
	parts := strings.Split(s, "/")
	if len(s) > maxExpression || len(parts) < 3 {
		return fmt.Errorf("%s is not FORGE/OWNER/REPO", quote(s))
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.TrimSpace(part) != part || strings.ContainsFunc(part, unicode.IsControl) {
			return fmt.Errorf("%s is not FORGE/OWNER/REPO", quote(s))
		}
	}
	return nil
}
