package gitlab

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Create opens a merge request in a single request. GitLab itself rejects a second
// one for the same head and base. If the response is lost, the merge request is
// looked up, and the request is not repeated.
func (p pulls) Create(ctx context.Context, draft scm.Draft) (scm.PullRequest, error) {
	noun := p.repo.noun("merge request from %s", rest.OneLine(draft.Head))
	wanted, err := p.wanted(ctx, draft)
	if err != nil {
		return scm.PullRequest{}, explain(noun, err)
	}
	mr, _, err := p.repo.forge.api.MergeRequests.CreateMergeRequest(p.repo.id, wanted, in(ctx))
	switch err = explain(noun, err); {
	case fault.KindOf(err) == fault.Temporary:
		return p.lost(ctx, draft, err)
	case err != nil:
		return scm.PullRequest{}, p.repo.denied(ctx, err)
	case mr.SHA == "":
		return scm.PullRequest{}, p.headless(ctx, noun, mr.IID)
	}
	return p.translate(mr), nil
}

// wanted builds the request. If the project allows the choice, our commit is not
// squashed: its trailers describe its content.
func (p pulls) wanted(ctx context.Context, draft scm.Draft) (*gogitlab.CreateMergeRequestOptions, error) {
	wanted := &gogitlab.CreateMergeRequestOptions{
		Title: gogitlab.Ptr(titleOf(draft.Title, draft.AsDraft)), Description: gogitlab.Ptr(bodyOf(draft.Body)),
		SourceBranch: &draft.Head, TargetBranch: &draft.Base,
	}
	if len(draft.Labels) > 0 {
		wanted.Labels = gogitlab.Ptr(gogitlab.LabelOptions(labelsOf(draft.Labels)))
	}
	if p.repo.squash {
		wanted.Squash = gogitlab.Ptr(false)
	}
	reviewers, err := p.numbers(ctx, draft.Reviewers)
	if err != nil {
		return nil, err
	}
	if len(reviewers) > 0 {
		wanted.ReviewerIDs = &reviewers
	}
	assignees, err := p.numbers(ctx, draft.Assignees)
	if len(assignees) > 0 {
		wanted.AssigneeIDs = &assignees
	}
	return wanted, err
}

// numbers finds the IDs of accounts. It omits groups, since only users can be GitLab
// reviewers, our own account, and unknown names.
func (p pulls) numbers(ctx context.Context, names []string) ([]int, error) {
	var ids []int
	people, _ := rest.PeopleAndTeams(names)
	for _, name := range rest.Reviewers(people, "", p.repo.info.Self.Login) {
		id, err := p.repo.userID(ctx, identity.User{Host: p.repo.forge.host, Login: name})
		if err != nil {
			return nil, err
		}
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// lost looks for a merge request whose creation got no response. A merge request by
// another user, or with another text, existed before.
func (p pulls) lost(ctx context.Context, draft scm.Draft, cause error) (scm.PullRequest, error) {
	options := gogitlab.ListProjectMergeRequestsOptions{
		State: gogitlab.Ptr("opened"), SourceBranch: &draft.Head, TargetBranch: &draft.Base,
	}
	title, body := bareTitle(titleOf(draft.Title, draft.AsDraft)), textOf(bodyOf(draft.Body))
	found, err := p.list(ctx, options, 1, func(pull scm.PullRequest) bool {
		ours := pull.Head.Own && pull.Head.Branch == draft.Head && p.repo.info.Self.Same(pull.Author)
		return ours && bareTitle(pull.Title) == title && rest.SameText(pull.Body, body)
	})
	if err != nil || len(found) == 0 {
		return scm.PullRequest{}, cause
	}
	return found[0], nil
}

// headless closes a merge request that GitLab opened from a branch that does not
// exist.
func (p pulls) headless(ctx context.Context, noun string, number int) error {
	_, _, err := p.repo.forge.api.MergeRequests.UpdateMergeRequest(p.repo.id, number,
		&gogitlab.UpdateMergeRequestOptions{StateEvent: gogitlab.Ptr("close")}, in(ctx))
	if err != nil {
		return explain(noun, err)
	}
	return fault.New(fault.NotFound, "%s: there is no such branch", noun)
}

// account fetches the account of the credential.
func (f *Forge) account(ctx context.Context) (account, error) {
	return f.self.Get(f.now(), func() (account, error) {
		user, _, err := f.api.Users.CurrentUser(in(ctx))
		if err != nil {
			return account{}, err
		}
		person := f.person(user.Username)
		person.ID = identity.NumericID(user.ID)
		person.Bot = person.Bot || user.Bot
		return account{id: user.ID, person: person}, nil
	})
}

// botName matches the names of accounts of project and group access tokens and, by
// default, of service accounts.
// https://docs.gitlab.com/user/project/settings/project_access_tokens/#bot-users-for-projects
var botName = regexp.MustCompile(`^((project|group)_\d+_bot|service_account_)`)

// person converts a login. GitLab keeps no login of a deleted account.
func (f *Forge) person(login string) identity.User {
	if login == "" {
		return identity.User{}
	}
	return f.robots.Person(identity.User{Host: f.host, Login: login, Bot: botName.MatchString(login)})
}

func (f *Forge) personOf(user *gogitlab.BasicUser) identity.User {
	if user == nil {
		return identity.User{}
	}
	person := f.person(user.Username)
	if person.Login != "" {
		person.ID = identity.NumericID(user.ID)
	}
	return person
}

// userID returns the ID of an account, zero if it does not exist or is on another
// forge. If it is not known, it is queried once per reconciliation: the login may be that of
// another account by now.
func (r *repository) userID(ctx context.Context, person identity.User) (int, error) {
	if !isName(person.Login) || !strings.EqualFold(person.Host, r.forge.host) {
		return 0, nil
	}
	if id, err := strconv.Atoi(person.ID); err == nil {
		return id, nil
	}
	return r.users.Get(strings.ToLower(person.Login), func() (int, error) {
		found, _, err := r.forge.api.Users.ListUsers(&gogitlab.ListUsersOptions{Username: &person.Login}, in(ctx))
		i := slices.IndexFunc(found, func(user *gogitlab.User) bool { return identity.SameLogin(user.Username, person.Login) })
		if err != nil || i < 0 {
			return 0, err
		}
		return found[i].ID, nil
	})
}

// isBot queries whether an account is a bot, which the names of some service accounts
// do not show. It is queried once per forge: gitlab.com allows 300 such requests in
// ten minutes.
// https://docs.gitlab.com/administration/settings/rate_limit_on_users_api/
func (f *Forge) isBot(ctx context.Context, person identity.User, id int) (bool, error) {
	if person.Bot || f.robots.IsTrusted(person.Login) {
		return person.Bot, nil
	}
	bot, err := f.bots.Get(id, func() (bool, error) {
		user, _, err := f.api.Users.GetUser(id, gogitlab.GetUsersOptions{}, in(ctx))
		return err == nil && user.Bot, err
	})
	if wasNotFound(err) { // not kept: the account may only be hidden for now
		return false, nil
	}
	return bot, err
}
