package landing

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// This file reads the checks of landings. They belong to what landed, and not to one commit: the system that runs them may
// test only the last commit of a push, and a run may be canceled by the next one. So later commits count too, as long as the
// files of the target have the same versions.

const (
	// maxCheckedLandings is how many landings of a target get their checks.
	maxCheckedLandings = 3
	// maxNewest and maxNext are how many commits after a landing are asked for their statuses: the newest, whose
	// checks may still run, and those just after the landing, which the system that runs checks may have got with it.
	maxNewest = 5
	maxNext   = 4
)

// statusReader reads the statuses of commits, each commit once: targets share them. It also remembers the history of
// branches, for the same reason.
type statusReader struct {
	reader Reader
	chains map[string]*chain       // by head
	known  map[string]statusesRead // by commit
}

// statusesRead is the answer of a forge.
type statusesRead struct {
	checks []scm.Check
	err    error
}

func newStatusReader(r Reader) *statusReader {
	return &statusReader{reader: r, chains: map[string]*chain{}, known: map[string]statusesRead{}}
}

func (s *statusReader) close() {
	for _, c := range s.chains {
		c.stop()
	}
}

func (s *statusReader) chainOf(head string) *chain {
	if s.chains[head] == nil {
		s.chains[head] = newChain(s.reader.Objects, head)
	}
	return s.chains[head]
}

// Checks implements repo.Checks.
func (s *statusReader) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	answer, read := s.known[commit]
	if !read {
		answer.checks, answer.err = s.reader.Repository.Signals().Checks(ctx, commit)
		s.known[commit] = answer
	}
	return answer.checks, answer.err
}

// span is for how long a landing was in effect.
type span struct {
	known bool
	end   string // the commit that ended it; empty: it did not end
}

// spansOf returns the span of each landing. What was there after a period may be no landing: files that are no snapshot.
func spansOf(deployments []deployed, w walked) []span {
	spans := make([]span, len(deployments))
	for i, d := range deployments {
		switch {
		case d.period == 0 && len(w.Periods) > 0:
			spans[i].known = true
		case d.period > 0:
			end := w.Periods[d.period-1].first()
			spans[i] = span{known: end != "", end: end}
		}
	}
	return spans
}

// readChecks fills in the checks of the newest landings, if a child requires any.
func (t targetReader) readChecks(ctx context.Context, statuses *statusReader, history targetHistory) error {
	patterns := t.o.checksOfChildren(t.target)
	if !t.from.Repository.Features().Statuses || len(patterns) == 0 {
		return nil
	}
	read := 0
	landings := history.landings
	for i := range landings {
		if landings[i].ByUser && i > 0 { // it is no candidate
			continue
		}
		if read++; read > maxCheckedLandings {
			break
		}
		checks, err := t.checksOf(ctx, statuses, history, i, patterns)
		landings[i].Checks = checks
		if err != nil {
			return err
		}
	}
	return nil
}

// checksOf returns the checks of the commit of a landing. If they have not passed with results, it adds those of other commits
// at which it was in effect, the newest first, until they have.
func (t targetReader) checksOf(
	ctx context.Context, statuses *statusReader, history targetHistory, i int, patterns []string,
) ([]promotion.Check, error) {
	landed := history.landings[i].Commit
	own, err := t.checksAt(ctx, statuses, landed)
	if err != nil || haveResults(patterns, own) {
		return own, err
	}
	branch := statuses.chainOf(t.head())
	others, err := t.inEffect(branch, history, i)
	if err != nil {
		return own, err
	}
	at := branch.position[landed]
	var later, earlier []promotion.Check
	for _, position := range others {
		checks, err := t.checksAt(ctx, statuses, branch.commits[position].ID)
		if position < at {
			later = append(later, checks...)
		} else {
			earlier = append(earlier, checks...)
		}
		all := slices.Concat(later, own, earlier)
		if err != nil || haveResults(patterns, all) {
			return all, err
		}
	}
	return slices.Concat(later, own, earlier), nil
}

// checksAt returns the checks of a commit.
func (t targetReader) checksAt(ctx context.Context, statuses *statusReader, commit string) ([]promotion.Check, error) {
	checks, err := repo.ReadChecks(ctx, statuses, commit, t.o.Statuses)
	for i := range checks {
		checks[i].Commit = commit
	}
	if err != nil {
		return checks, fmt.Errorf("read what was tested in %s: %w", t.target, err)
	}
	return checks, nil
}

// haveResults reports whether the checks of all patterns passed by results. A skipped one may have failed on another commit.
func haveResults(patterns []string, checks []promotion.Check) bool {
	return !slices.ContainsFunc(patterns, func(pattern string) bool { return !promotion.HaveResults(pattern, checks) })
}

// inEffect returns the positions of other commits at which a landing was in effect and that are asked, the newest first.
// Without a known span there are none.
func (t targetReader) inEffect(branch *chain, history targetHistory, i int) ([]int, error) {
	newest, known, err := history.newestOf(branch, i)
	if err != nil || !known {
		return nil, err
	}
	own, found, err := branch.reach(history.landings[i].Commit)
	if err != nil || !found {
		return nil, err
	}
	asked := askedAfter(newest, own)
	first, found, err := branch.reach(history.landings[i].First)
	if found && first > own {
		asked = append(asked, first)
	}
	return asked, err
}

// newestOf returns the position of the newest commit at which a landing was in effect; false: it is not known.
func (h targetHistory) newestOf(branch *chain, i int) (newest int, known bool, err error) {
	ends := []string{h.spans[i].end}
	if i > 0 {
		ends = append(ends, h.landings[i-1].First)
	}
	for _, end := range ends {
		if end == "" {
			continue
		}
		at, found, err := branch.reach(end)
		if err != nil || !found {
			return 0, false, err
		}
		newest = max(newest, at+1)
	}
	return newest, h.spans[i].known, nil
}

// askedAfter returns the positions of the commits that are asked for their statuses, the newest first: of those from a
// position to that of a landing, which is not among them.
func askedAfter(newest, landed int) []int {
	var asked []int
	for position := newest; position < landed; position++ {
		if position < newest+maxNewest || position >= landed-maxNext {
			asked = append(asked, position)
		}
	}
	return asked
}

// checksOfChildren returns the patterns of checks that children require of a target, sorted.
func (o Observed) checksOfChildren(target promotion.Target) []string {
	var patterns []string
	o.anyChild(target, func(p setting.Parent) bool {
		patterns = append(patterns, p.Checks...)
		return false
	})
	slices.Sort(patterns)
	return slices.Compact(patterns)
}
