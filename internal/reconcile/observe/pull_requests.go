package observe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// pullRequestSignals is a strict subset of scm.Signals.
type pullRequestSignals interface {
	repo.Checks
	Reviews(ctx context.Context, number int) ([]scm.Review, error)
}

// readPullRequests reads the open pull requests of our branches, by branch. One
// from a fork is not ours, whatever its branch is called.
func (r Reader) readPullRequests(ctx context.Context, o Observation, failures *repo.Collector) (map[string]promotion.Open, error) {
	all, own := map[string]promotion.Open{}, ownPullRequests(o)
	signals := r.readSignals(ctx, o, own, failures)
	for _, pr := range own {
		open := asOpen(pr)
		if failures.SkipReason(pr.Head.Branch) == nil {
			var err error
			open, err = readPullRequest(ctx, r.Clients, signals, o, pr, failures.LastAttempt())
			if err != nil {
				err = fmt.Errorf("read pull request #%d: %w", pr.Number, err)
			}
			if err := failures.SkipBranch(ctx, pr.Head.Branch, err); err != nil {
				return nil, err
			}
		}
		all[pr.Head.Branch] = open
	}
	return all, nil
}

// ReadPullRequest reads an open pull request of ours as it is now.
func ReadPullRequest(ctx context.Context, c Clients, o Observation, pr scm.PullRequest, lastAttempt bool) (promotion.Open, error) {
	return readPullRequest(ctx, c, c.Forge.Signals(), o, pr, lastAttempt)
}

// readSignals reads the checks and reviews of pull requests side by side.
func (r Reader) readSignals(ctx context.Context, o Observation, own []scm.PullRequest, failures *repo.Collector) signalsRead {
	features, signals := r.Clients.Forge.Features(), r.Clients.Forge.Signals()
	var commits []string
	var numbers []int
	for _, pr := range own {
		target, _ := promotion.ParseHead(pr.Head.Branch)
		_, known := o.Promotion.Config.Environment(target.Environment)
		if !known || takenOver(o, pr) != "" || failures.SkipReason(pr.Head.Branch) != nil {
			continue
		}
		if features.Statuses {
			commits = append(commits, pr.Head.Commit)
		}
		if features.Approvals {
			numbers = append(numbers, pr.Number)
		}
	}
	return signalsRead{
		checks:  sideBySide(r.Parallel, commits, func(commit string) ([]scm.Check, error) { return signals.Checks(ctx, commit) }),
		reviews: sideBySide(r.Parallel, numbers, func(number int) ([]scm.Review, error) { return signals.Reviews(ctx, number) }),
	}
}

// signalsRead are checks and reviews that were read before.
type signalsRead struct {
	checks  func(commit string) ([]scm.Check, error)
	reviews func(number int) ([]scm.Review, error)
}

// Checks implements pullRequestSignals.
func (s signalsRead) Checks(_ context.Context, commit string) ([]scm.Check, error) {
	return s.checks(commit)
}

// Reviews implements pullRequestSignals.
func (s signalsRead) Reviews(_ context.Context, number int) ([]scm.Review, error) {
	return s.reviews(number)
}

// ownPullRequests returns one open pull request for each of our branches, sorted by branch.
// Any user who can push may open a second one from it: ours is the one that we opened into
// its base, and the oldest of several.
func ownPullRequests(o Observation) []scm.PullRequest {
	var own []scm.PullRequest
	for _, pr := range o.Open {
		if _, ours := promotion.ParseHead(pr.Head.Branch); ours && pr.Head.Own {
			own = append(own, pr)
		}
	}
	theirs := func(pr scm.PullRequest) int { return min(len(takenOver(o, pr)), 1) }
	slices.SortFunc(own, func(a, b scm.PullRequest) int {
		return cmp.Or(strings.Compare(a.Head.Branch, b.Head.Branch), theirs(a)-theirs(b), a.Number-b.Number)
	})
	return slices.CompactFunc(own, func(a, b scm.PullRequest) bool { return a.Head.Branch == b.Head.Branch })
}

// readPullRequest reads an open pull request of ours: its snapshots from Git, its
// checks and reviews from the forge where a gate or the refresh mode needs them, and a
// refused merge from our own status. That status is added to the observed ones.
func readPullRequest(
	ctx context.Context, c Clients, signals pullRequestSignals, o Observation, pr scm.PullRequest, lastAttempt bool,
) (promotion.Open, error) {
	target, _ := promotion.ParseHead(pr.Head.Branch)
	open := asOpen(pr)
	head, err := c.Objects.Commit(pr.Head.Commit)
	if fault.KindOf(err) == fault.NotFound {
		if _, exists := o.Refs.Branches[pr.Head.Branch]; !exists && lastAttempt {
			// A user reopened it, and the forge did not restore its branch: it is pushed again.
			return open, nil
		}
		// The head is newer than the listing of branches.
		return open, fault.Wrap(fault.Conflict, err)
	}
	if err != nil {
		return open, err
	}
	written, foreign, err := writtenIn(ctx, c, o, pr, head)
	if err != nil {
		return open, err
	}
	open.Foreign = foreign
	for _, landed := range promotion.ReadTrailers(written.Trailers) {
		if landed.Environment == target.Environment {
			open.Snapshots[landed.Application] = landed.Snapshot
		}
	}
	pushed := head.Committer.When
	open.Pushed, open.Changed = pushed, pushed
	environment, known := o.Promotion.Config.Environment(target.Environment)
	if known && open.Foreign != "" {
		open.Conflict, err = conflicts(ctx, c.Forge, pr)
		return open, err
	}
	if !known {
		return open, nil
	}

	features := c.Forge.Features()
	if features.Statuses {
		open.Checks, err = repo.ReadChecks(ctx, signals, pr.Head.Commit, o.Statuses)
		// A token may be enough for everything except the checks. That matters only
		// where a gate needs one.
		if fault.KindOf(err) == fault.Unauthorized && len(environment.Gates.Checks) == 0 {
			open.Blind, err = true, nil
		}
		if err != nil {
			return open, err
		}
		for _, check := range open.Checks {
			open.Changed = later(open.Changed, check.At)
		}
	}
	var reviews []scm.Review
	if features.Approvals {
		reviews, err = signals.Reviews(ctx, pr.Number)
		if err != nil {
			return open, fmt.Errorf("read the reviews: %w", err)
		}
		same := func(others []string) ([]string, error) {
			return c.History(o.Promotion.Config).SameContent(ctx, pr.Head.Branch, head, pr.Base, o.Heads[pr.Base], others)
		}
		counted := counting{forge: c.Forge, pr: pr, teams: teamsOf(environment.Gates.Approvals), same: same}
		if err := counted.count(ctx, &open, reviews); err != nil {
			return open, err
		}
	}
	open.Fingerprint = fingerprint(pr, o.Heads[pr.Base], open.Checks, reviews)
	open.Refused = refusedMerge(o, pr, open, pushed)
	return retriedWhenReady(ctx, c.Forge, open, o.Now)
}

// retriedWhenReady retries a refused merge at once where the forge reports that it would merge now, for a reason that only its
// report about a single pull request knows, such as a conversation that was resolved. It is asked only while a merge is refused.
// If the forge refuses the merge nevertheless, the new refusal has the fingerprint of this, and the forge is not asked again
// until anything differs.
func retriedWhenReady(ctx context.Context, forge scm.Repository, open promotion.Open, now time.Time) (promotion.Open, error) {
	readiness, can := forge.(scm.Readiness)
	if !can || open.Refused == nil || open.Refused.Fingerprint == "" || !now.Before(open.Refused.Until) {
		return open, nil
	}
	ready := fingerprintWhenReady(open.Fingerprint)
	if open.Refused.Fingerprint == ready {
		open.Fingerprint = ready
		return open, nil
	}
	is, err := readiness.Ready(ctx, open.Number)
	if err != nil {
		return open, fmt.Errorf("read whether it can be merged: %w", err)
	}
	if is {
		due := *open.Refused
		due.Until = now
		open.Fingerprint, open.Refused = ready, &due
	}
	return open, nil
}

// fingerprintWhenReady returns the fingerprint of the same pull request that the forge reports to be ready.
func fingerprintWhenReady(fingerprint string) string {
	sum := sha256.Sum256([]byte("ready " + fingerprint))
	return hex.EncodeToString(sum[:4])
}

// conflicts reports whether a pull request conflicts with its base. Only one that belongs to a user is asked about: promoter
// writes its own again on the base.
func conflicts(ctx context.Context, repository scm.Repository, pr scm.PullRequest) (bool, error) {
	forge, can := repository.(scm.Conflicting)
	if !can {
		return false, nil
	}
	found, err := forge.Conflicts(ctx, pr.Number)
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.NotFound:
		return false, nil
	}
	return found, err
}

// refusedMerge returns the refused merge of the head if nothing that was read before it differs now; nil: there is none.
func refusedMerge(o Observation, pr scm.PullRequest, open promotion.Open, pushed time.Time) *promotion.Refusal {
	status, set := o.Statuses[open.Commit]
	if !set {
		status.Description = pullrequest.RefusalInBody(pr.Body, open.Commit)
		stored, _ := pullrequest.ParseRefusal(status.Description, open.Changed)
		status.At = stored.At.Add(time.Minute) // it has whole minutes
	}
	refusal, refused := pullrequest.ParseRefusal(status.Description, open.Changed)
	same := []string{"", open.Fingerprint, fingerprintWhenReady(open.Fingerprint)}
	switch {
	case !refused || o.Refreshed:
		return nil
	case !slices.Contains(same, refusal.Fingerprint):
		return nil
	// Without a fingerprint, times decide. The push itself came before the refusal, whatever the clock of this machine
	// was then.
	case refusal.Fingerprint == "" && !open.Changed.Equal(pushed) && open.Changed.After(status.At):
		return nil
	}
	return &refusal
}

// fingerprint returns eight hex digits of what may change the answer of a forge to a merge: the head, where its base is,
// whether it is a draft or has open conversations, the checks, and the reviews. What is only more time is not in it.
func fingerprint(pr scm.PullRequest, base string, checks []promotion.Check, reviews []scm.Review) string {
	hash := sha256.New()
	add := func(values ...any) { hash.Write(fmt.Appendf(nil, "%q\n", fmt.Sprintln(values...))) }
	add(pr.Head.Commit, pr.Base, base, pr.Draft, pr.Unresolved)
	checks = slices.SortedFunc(slices.Values(checks), func(a, b promotion.Check) int { return strings.Compare(a.Name, b.Name) })
	for _, check := range checks {
		add("check", check.Name, check.State)
		for _, source := range slices.Sorted(maps.Keys(check.Sources)) {
			add(source, check.Sources[source])
		}
	}
	for _, review := range reviews {
		add("review", review.Author.Login, review.State, review.Commit, review.At.Unix(), review.MayWrite)
	}
	return hex.EncodeToString(hash.Sum(nil)[:4])
}

func asOpen(pr scm.PullRequest) promotion.Open {
	return promotion.Open{
		Number: pr.Number, URL: pr.URL, Head: pr.Head.Branch, Commit: pr.Head.Commit,
		Opened: pr.Opened, Draft: pr.Draft, Snapshots: map[string]promotion.Snapshot{},
	}
}

// writtenIn returns the commit of ours in a pull request of our branch: its head, unless the base was merged into it. It
// also returns why the pull request belongs to a user; empty: it does not.
func writtenIn(
	ctx context.Context, c Clients, o Observation, pr scm.PullRequest, head repo.Commit,
) (written repo.Commit, foreign string, err error) {
	if why := takenOver(o, pr); why != "" {
		return head, why, nil
	}
	written, ours, err := c.History(o.Promotion.Config).WrittenIn(ctx, pr.Head.Branch, head, pr.Base, o.Heads[pr.Base])
	if err != nil || ours {
		return written, "", err
	}
	return head, head.Committer.Name + " committed to it", nil
}

// takenOver returns why a pull request of our branch, whatever its commits are, belongs to
// a user.
func takenOver(o Observation, pr scm.PullRequest) string {
	target, _ := promotion.ParseHead(pr.Head.Branch)
	base := o.Promotion.BaseOf(target)
	switch {
	case o.Info.Self.Login != "" && !pr.Author.Same(o.Info.Self):
		return pr.Author.Login + " opened it from our branch"
	case base != "" && pr.Base != base:
		return "its base was changed to " + pr.Base
	default:
		return ""
	}
}

// counting counts the reviews of a pull request.
type counting struct {
	forge scm.Repository
	pr    scm.PullRequest
	teams []string // of the config
	// same returns those of other heads that had the content of the current one.
	same func(others []string) ([]string, error)
}

// count counts the last vote of each user. For the config only votes on the
// current head count, or on one with the same content that promoter replaced, and neither those of bots nor that of the
// author; for the forge, those that it did not dismiss.
func (c counting) count(ctx context.Context, open *promotion.Open, reviews []scm.Review) error {
	forge, pr := c.forge, c.pr
	votes := map[string]scm.Review{}
	for _, review := range reviews {
		open.Changed = later(open.Changed, review.At)
		if review.State != scm.Commented {
			votes[review.Author.Login] = review
		}
	}
	same, err := c.sameContent(votes)
	if err != nil {
		return err
	}
	for _, login := range slices.Sorted(maps.Keys(votes)) {
		review := votes[login]
		own := review.Author.Same(pr.Author) || review.Author.Same(forge.Info().Self)
		if review.State == scm.ChangesRequested && review.MayWrite && !own && !review.Author.Bot {
			open.Objections = append(open.Objections, login)
		}
		if review.State != scm.Approved {
			continue
		}
		current := review.Commit == pr.Head.Commit
		// A forge counts bots with write access, and may not report which ones have it.
		// Counting one that it does not costs a refused merge; not counting one that it
		// does could wait forever.
		if (review.MayWrite || review.Author.Bot) && !own && !review.Unofficial {
			open.Votes = append(open.Votes, promotion.Vote{By: login, Current: current})
		}
		void := promotion.Void{By: cmp.Or(login, "a deleted account"), Own: own}
		switch {
		case own:
			void.Why = "it is promoter's own"
		case review.Author.Bot:
			void.Why = "it is a bot's"
		case !review.MayWrite:
			void.Why = "they may not write to the repository"
		case !current && !slices.Contains(same, review.Commit):
			void.Why = "it is older than the last push"
		default:
			approval := promotion.Approval{By: login, ID: review.Author.ID, At: review.At}
			for _, team := range c.teams {
				member, err := forge.Signals().Member(ctx, team, review.Author)
				if err != nil {
					return fmt.Errorf("ask whether %s is in %s: %w", login, team, err)
				}
				if member {
					approval.Teams = append(approval.Teams, team)
				}
			}
			open.Approvals = append(open.Approvals, approval)
			continue
		}
		open.Void = append(open.Void, void)
	}
	return nil
}

// sameContent returns the other heads with approvals that may count because they had the content of the current one.
func (c counting) sameContent(votes map[string]scm.Review) ([]string, error) {
	var others []string
	for _, review := range votes {
		if review.State == scm.Approved && review.MayWrite && review.Commit != c.pr.Head.Commit && review.Commit != "" {
			others = append(others, review.Commit)
		}
	}
	slices.Sort(others)
	same, err := c.same(slices.Compact(others))
	if err != nil {
		return nil, fmt.Errorf("compare with heads that were approved: %w", err)
	}
	return same, nil
}

func teamsOf(approvals *setting.Approvals) []string {
	var teams []string
	if approvals != nil {
		for _, from := range approvals.From {
			if team, ok := strings.CutPrefix(from, "team:"); ok {
				teams = append(teams, team)
			}
		}
	}
	return teams
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// readHeads skips the new branches of a plan to which the forge accepts no push of ours.
func readHeads(
	ctx context.Context, repository scm.Repository, o Observation, made plan.Plan, parallel int, failures *repo.Collector,
) error {
	ruled, can := repository.(scm.HeadRuled)
	if !can {
		return nil
	}
	var heads []string
	for _, p := range made.Proposals {
		if p.Step == propose.StepPropose && o.Refs.Branches[p.Head] == "" && failures.SkipReason(p.Head) == nil {
			heads = append(heads, p.Head)
		}
	}
	unpushable := sideBySide(parallel, heads, func(head string) (string, error) { return ruled.Unpushable(ctx, head) })
	for _, head := range heads {
		reason, err := unpushable(head)
		switch kind := fault.KindOf(err); {
		case reason != "":
			err = repo.RefusedPush(head, fault.New(fault.Unauthorized, "%s", reason))
		case kind == fault.Unauthorized, kind == fault.NotFound:
			err = nil // the push will tell
		case err != nil:
			err = fmt.Errorf("read the rules of %s: %w", head, err)
		}
		if err := failures.SkipBranch(ctx, head, err); err != nil {
			return err
		}
	}
	return nil
}

// readRules reads the forge's own rules for the branches into which the plan merges, or for which a newer version may wait,
// once for each branch, under every name that environments have for it.
func readRules(
	ctx context.Context, repository scm.Repository, o Observation, made plan.Plan, failures *repo.Collector,
) (map[string]promotion.Protection, error) {
	ruled, can := repository.(scm.Ruled)
	if !can || !repository.Features().Rules {
		return nil, nil
	}
	protected, failed := map[string]promotion.Protection{}, map[string]error{}
	for _, p := range made.Proposals {
		if p.Step != propose.StepPropose || p.Environment.Land != setting.LandAutomerge && !p.MayWait(o.Now) {
			continue
		}
		branch := o.Promotion.BranchOf(p.Environment)
		if _, asked := failed[branch]; !asked {
			rules, err := ruled.Rules(ctx, branch)
			switch fault.KindOf(err) {
			case "":
				protected[branch] = promotion.Protection{Branch: branch, Rules: rules}
				if branch == o.Refs.Default {
					protected[""] = protected[branch]
				}
			case fault.Unauthorized, fault.NotFound:
				err = nil // as if it was not asked: the forge reports rules when it refuses
			default:
				err = fmt.Errorf("read the rules of %s: %w", branch, err)
			}
			failed[branch] = err
		}
		if err := failures.SkipBranch(ctx, p.Head, failed[branch]); err != nil {
			return nil, err
		}
	}
	return protected, nil
}
