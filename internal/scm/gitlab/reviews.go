package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Reviews combines data from three sources: the current approvals, the system notes
// about approvals and change requests, and the versions of the merge request, which
// determine its head at that time.
//
// Whether a reviewer may push is queried once per user, and only for reviews that
// could count.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	if !s.repo.features.Approvals {
		return nil, nil
	}
	noun := s.repo.noun("reviews of merge request %d", number)
	notes, err := s.repo.notes(ctx, number)
	if err != nil {
		return nil, explain(noun, err)
	}
	given, err := s.approvals(ctx, number)
	if err != nil {
		return nil, explain(noun, err)
	}
	found := votesIn(notes)
	if len(found) == 0 && len(given) == 0 {
		return nil, nil
	}
	versions, err := s.versions(ctx, number)
	if err != nil {
		return nil, explain(noun, err)
	}
	found = reconcile(found, given)
	if found, err = s.objections(ctx, number, found); err != nil {
		return nil, explain(noun, err)
	}
	reviews, err := s.weigh(ctx, found, versions)
	return reviews, explain(noun, err)
}

// vote is a review before its author's permissions are queried.
type vote struct {
	user  int
	login string
	state scm.ReviewState
	at    time.Time // zero: not reported by GitLab
}

// System notes about reviews. GitLab does not translate them.
const (
	notedApproved   = "approved this merge request"
	notedUnapproved = "unapproved this merge request"
	notedChanges    = "requested changes"
)

// votesIn returns the reviews recorded in notes, oldest first. A revoked approval was
// dismissed. A comment on the changes is a review without a verdict.
func votesIn(notes []*gogitlab.Note) []vote {
	var votes []vote
	for _, note := range notes {
		one := vote{user: note.Author.ID, login: note.Author.Username, at: rest.TimeOf(note.CreatedAt)}
		switch {
		case !note.System && note.Type == gogitlab.DiffNote:
			one.state = scm.Commented
		case note.System && note.Body == notedApproved:
			one.state = scm.Approved
		case note.System && note.Body == notedChanges:
			one.state = scm.ChangesRequested
		case note.System && note.Body == notedUnapproved:
			dismiss(votes, one.user)
			continue
		default:
			continue
		}
		votes = append(votes, one)
	}
	return votes
}

// dismiss marks the approvals of a user as dismissed.
func dismiss(votes []vote, user int) {
	for i := range votes {
		if votes[i].user == user && votes[i].state == scm.Approved {
			votes[i].state = scm.Dismissed
		}
	}
}

// approval is a current approval. The library omits its time, which servers report
// since GitLab 18.
type approval struct {
	User gogitlab.BasicUser `json:"user"`
	At   *time.Time         `json:"approved_at"`
}

// approvals lists the current approvals, in every tier.
func (s signals) approvals(ctx context.Context, number int) ([]approval, error) {
	path := fmt.Sprintf("projects/%d/merge_requests/%d/approvals", s.repo.id, number)
	req, err := s.repo.forge.api.NewRequest(http.MethodGet, path, nil, []gogitlab.RequestOptionFunc{in(ctx)})
	if err != nil {
		return nil, err
	}
	var answer struct {
		By []approval `json:"approved_by"`
	}
	_, err = s.repo.forge.api.Do(req, &answer)
	return answer.By, err
}

// reconcile updates votes to match the current approvals. Each user has at most one:
// the last one recorded in notes. One without a note and a time has no known commit.
func reconcile(votes []vote, given []approval) []vote {
	current := map[int]int{} // last approval of each user with a current one
	for _, one := range given {
		last := lastOf(votes, one.User.ID, scm.Approved)
		switch {
		case last < 0:
			last = len(votes)
			votes = append(votes, vote{user: one.User.ID, login: one.User.Username, state: scm.Approved, at: rest.TimeOf(one.At)})
		case one.At != nil:
			votes[last].at = rest.TimeOf(one.At)
		}
		current[one.User.ID] = last
	}
	for i, one := range votes {
		if last, ok := current[one.user]; one.state == scm.Approved && (!ok || last != i) {
			votes[i].state = scm.Dismissed
		}
	}
	slices.SortStableFunc(votes, func(a, b vote) int { return a.at.Compare(b.at) })
	return votes
}

// lastOf finds the last vote of a user with this state.
func lastOf(votes []vote, user int, state scm.ReviewState) int {
	for i, one := range slices.Backward(votes) {
		if one.user == user && one.state == state {
			return i
		}
	}
	return -1
}

// objections queries whether changes are still requested if that was a user's last
// vote: a reviewer who is asked again has withdrawn it.
func (s signals) objections(ctx context.Context, number int, votes []vote) ([]vote, error) {
	last := map[int]int{}
	for i, one := range votes {
		if one.state != scm.Commented {
			last[one.user] = i
		}
	}
	var states map[int]string
	for user, i := range last {
		if votes[i].state != scm.ChangesRequested {
			continue
		}
		if states == nil {
			var err error
			if states, err = s.reviewers(ctx, number); err != nil {
				return nil, err
			}
		}
		if state, known := states[user]; known && state != "requested_changes" {
			votes[i].state = scm.Dismissed
		}
	}
	return votes, nil
}

// reviewers returns the states of the requested reviewers, by ID.
func (s signals) reviewers(ctx context.Context, number int) (map[int]string, error) {
	found, _, err := s.repo.forge.api.MergeRequests.GetMergeRequestReviewers(s.repo.id, number, in(ctx))
	if err != nil {
		return nil, err
	}
	states := map[int]string{}
	for _, one := range found {
		if one.User != nil {
			states[one.User.ID] = one.State
		}
	}
	return states, nil
}

// version is a head of a merge request since a time.
type version struct {
	head string
	at   time.Time
}

// versions lists the heads, oldest first.
func (s signals) versions(ctx context.Context, number int) ([]version, error) {
	found, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]version, *gogitlab.Response, error) {
		options := gogitlab.GetMergeRequestDiffVersionsOptions(page)
		list, resp, err := s.repo.forge.api.MergeRequests.GetMergeRequestDiffVersions(s.repo.id, number, &options, in(ctx))
		heads := make([]version, len(list))
		for i, one := range list {
			heads[i] = version{head: one.HeadCommitSHA, at: rest.TimeOf(one.CreatedAt)}
		}
		return heads, resp, err
	})
	slices.SortStableFunc(found, func(a, b version) int { return a.at.Compare(b.at) })
	return found, err
}

// headAt returns the head of the latest version at a time, empty if there was none or
// the time is unknown.
func headAt(versions []version, at time.Time) string {
	head := ""
	for _, one := range versions {
		if at.IsZero() || one.at.After(at) {
			break
		}
		head = one.head
	}
	return head
}

// weigh converts votes to reviews, and queries the permissions of those that could
// count.
func (s signals) weigh(ctx context.Context, votes []vote, versions []version) ([]scm.Review, error) {
	reviews := make([]scm.Review, len(votes))
	for i, one := range votes {
		review := scm.Review{Author: s.repo.forge.person(one.login), State: one.state, Commit: headAt(versions, one.at), At: one.at}
		review.Author.ID = identity.NumericID(one.user)
		if one.state == scm.Approved || one.state == scm.ChangesRequested {
			found, err := s.weightOf(ctx, review.Author, one.user)
			if err != nil {
				return nil, err
			}
			review.Author.Bot = found.bot
			review.MayWrite = found.writes
		}
		reviews[i] = review
	}
	return reviews, nil
}

// weightOf is cached per reconciliation. A bot's approval never counts, so its permissions are not queried.
func (s signals) weightOf(ctx context.Context, person identity.User, id int) (weight, error) {
	return s.repo.weight.Get(id, func() (weight, error) {
		bot, err := s.repo.forge.isBot(ctx, s.repo.forge.robots.Account(person), id)
		if err != nil || bot {
			return weight{bot: bot}, err
		}
		level, err := s.repo.level(ctx, id)
		return weight{writes: level >= developer}, err
	})
}

// weight determines whether a review counts: whether its author is a bot, and may push.
type weight struct{ bot, writes bool }

// developer is the lowest role that may push. Custom roles have the level of their
// base role.
// https://docs.gitlab.com/api/access_requests/#valid-access-levels
const developer = int(gogitlab.DeveloperPermissions)

// level returns the role of an account in the project, including roles inherited from
// its groups and from invited groups. Zero: none, or the account is blocked.
func (r *repository) level(ctx context.Context, id int) (int, error) {
	member, _, err := r.forge.api.ProjectMembers.GetInheritedProjectMember(r.id, id, in(ctx))
	if wasNotFound(err) || err == nil && member.State != "active" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int(member.AccessLevel), nil
}

// ownLevel returns the role of our account. The project includes it, unless it comes
// from an invited group.
func (r *repository) ownLevel(ctx context.Context, found *gogitlab.Project, self int) (int, error) {
	permissions := found.Permissions
	if permissions == nil {
		return developer, nil // not reported by GitLab
	}
	level := 0
	if permissions.ProjectAccess != nil {
		level = int(permissions.ProjectAccess.AccessLevel)
	}
	if permissions.GroupAccess != nil {
		level = max(level, int(permissions.GroupAccess.AccessLevel))
	}
	if level >= developer {
		return level, nil
	}
	return r.level(ctx, self)
}

// Account implements scm.Accounts.
func (r *repository) Account(ctx context.Context, login string) (identity.User, error) {
	person := r.forge.person(login)
	id, err := r.userID(ctx, person)
	if err != nil || id == 0 {
		return identity.User{}, explain("account of "+rest.OneLine(login), err)
	}
	person.ID = identity.NumericID(id)
	return person, nil
}

// MayWrite queries GitLab on each call.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	noun := s.repo.noun("role of %s", rest.OneLine(person.Login))
	id, err := s.repo.userID(ctx, person)
	if err != nil || id == 0 || person.Bot {
		return false, explain(noun, err)
	}
	level, err := s.repo.level(ctx, id)
	return level >= developer, explain(noun, err)
}

// Member reports whether a user is a direct member of a group with at least the role
// Developer. Members of parent groups, and guests, are no members of a team. GitLab hides
// groups from users who may not see them: those are empty.
// https://docs.gitlab.com/api/group_members/#retrieve-a-direct-member-of-a-group
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	noun := "members of group " + rest.OneLine(team)
	if !isPath(team) {
		return false, nil
	}
	id, err := s.repo.userID(ctx, person)
	if err != nil || id == 0 {
		return false, explain(noun, err)
	}
	member, _, err := s.repo.forge.api.GroupMembers.GetGroupMember(strings.ToLower(team), id, in(ctx))
	if wasNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, explain(noun, err)
	}
	return member.State == "active" && int(member.AccessLevel) >= developer, nil
}
