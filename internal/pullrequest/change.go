package pullrequest

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// ChangeKey is the change of a component from one version to another.
type ChangeKey struct{ Component, From, To string }

// KeyOf returns the key of a move.
func KeyOf(m promotion.Move) ChangeKey {
	return ChangeKey{Component: m.Component, From: m.From.Tag + "@" + m.From.Digest, To: m.To.Tag + "@" + m.To.Digest}
}

// Change is what users read about the change of a component, and no decision needs.
type Change struct {
	From, To image.Description
	// Unread is why nothing is known about an image.
	Unread string
	Source scm.Change
	Others []Other
}

// Other is another environment that has the new version of a change.
type Other struct {
	Environment string
	Since       time.Time // zero: unknown
	PullRequest string    // that brought it, as the forge links it: #27; empty: unknown
}

// Unknown returns why the commits of the change are unknown; empty if they are known.
func (c Change) Unknown() string {
	missing := func(which string) string {
		return "the " + which + " image has no label or annotation org.opencontainers.image.revision"
	}
	switch {
	case c.Unread != "":
		return c.Unread
	case c.To.Revision == "":
		return missing("new")
	case c.From.Revision == "":
		return missing("current")
	case c.sameCommit():
		return ""
	default:
		return c.Source.Unread
	}
}

// sameCommit reports whether both images are built from one commit.
func (c Change) sameCommit() bool { return c.To.Revision != "" && c.To.Revision == c.From.Revision }

// OldestCommit returns when the oldest source commit of the change was made; zero: it is not
// known, or the change goes back.
func (c Change) OldestCommit() (oldest time.Time) {
	if c.Source.Removes {
		return time.Time{}
	}
	for _, commit := range c.Source.Commits {
		if at := commit.Committed; !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	return oldest
}

// releaseLike matches the tags that releases have.
var releaseLike = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){1,3}([-+._][A-Za-z0-9.+_-]*)?$`)

// SourceQuery returns what to ask the source of a change, and false if there is nothing to
// ask; then the change has the reason. The source of the config has priority over that of the
// image.
func (c *Change) SourceQuery(configured string, to image.Version) (scm.ChangeQuery, bool) {
	q := scm.ChangeQuery{Source: cmp.Or(configured, c.To.Source), Configured: configured != "", Limit: maxCommits}
	if q.Source == "" {
		c.Source.Unread = "the new image has no label or annotation org.opencontainers.image.source, and the component no source"
		return q, false
	}
	before, beforeKnown := scm.ParseSource(c.From.Source)
	after, afterKnown := scm.ParseSource(c.To.Source)
	switch {
	case c.From.Revision == "" || c.To.Revision == "" || c.sameCommit():
	case configured == "" && beforeKnown && afterKnown && !strings.EqualFold(before.String(), after.String()):
		c.Source.Unread = "the source was " + before.String() + " before, and is " + after.String() + " now"
		return q, false
	default:
		q.From, q.To = c.From.Revision, c.To.Revision
	}
	for _, name := range []string{to.Tag, to.Version, c.To.Version} {
		if releaseLike.MatchString(name) {
			bare := strings.TrimPrefix(name, "v")
			q.Tags = []string{"v" + bare, bare} // most repositories tag with v, and push images without
			break
		}
	}
	return q, q.To != "" || len(q.Tags) > 0
}

// OthersWith returns the other environments whose files have the new version of a move. Only
// what is in a parent is known with its time, because the history of the others is not
// always read. landed returns when a landing was there, for users. The sign is what the
// forge writes before the number of a pull request.
func OthersWith(o promotion.Observation, moved Changed, landed func(promotion.Landing) time.Time, sign string) []Other {
	var others []Other
	for _, environment := range o.Config.Order() {
		at := promotion.Target{Environment: environment, Application: moved.Application}
		if environment == moved.Environment || !hasVersion(o.Targets[at], moved) {
			continue
		}
		other := Other{Environment: environment}
		if slices.ContainsFunc(o.ParentsOf(moved.Target), func(parent setting.Parent) bool { return parent.Environment == environment }) {
			for _, landing := range o.Landings[at] {
				if !promotion.SameRollout(landing.Snapshot[moved.Component].Version, moved.To) {
					break
				}
				other.Since, other.PullRequest = landed(landing), ""
				if landing.Number > 0 {
					other.PullRequest = sign + strconv.Itoa(landing.Number)
				}
			}
		}
		others = append(others, other)
	}
	return others
}

// hasVersion reports whether all references of a target to a component have the new version.
func hasVersion(current promotion.Current, moved Changed) bool {
	found := false
	for _, r := range current.References {
		if r.Component != moved.Component || r.Repository != moved.Repository {
			continue
		}
		if !promotion.SameRollout(r.Version(), moved.To) {
			return false
		}
		found = true
	}
	return found
}
