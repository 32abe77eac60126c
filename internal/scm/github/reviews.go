package github

import (
	"context"
	"net/http"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Reviews lists all submitted reviews. Whether a reviewer may push is queried once
// per user, and only for reviews that could count: not for bots, comments and
// dismissed reviews.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	noun := s.repo.noun("reviews of pull request %d", number)
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.PullRequestReview, *gogithub.Response, error) {
		return s.repo.forge.api.PullRequests.ListReviews(ctx, s.repo.owner, s.repo.name, number, &page)
	})
	if err != nil {
		return nil, explain(noun, err)
	}
	var reviews []scm.Review
	for _, given := range found {
		review, ok := s.translate(given)
		if !ok {
			continue
		}
		if review.State == scm.Approved || review.State == scm.ChangesRequested {
			if review.MayWrite, err = s.writer(ctx, review.Author); err != nil {
				return nil, explain(noun, err)
			}
		}
		reviews = append(reviews, review)
	}
	return reviews, nil
}

// translate omits our own pending reviews, which no other user sees, and unknown
// states.
func (s signals) translate(given *gogithub.PullRequestReview) (scm.Review, bool) {
	review := scm.Review{Author: s.repo.forge.reviewer(given.GetUser()), Commit: given.GetCommitID(), At: given.GetSubmittedAt().UTC()}
	switch given.GetState() {
	case "APPROVED":
		review.State = scm.Approved
	case "CHANGES_REQUESTED":
		review.State = scm.ChangesRequested
	case "COMMENTED":
		review.State = scm.Commented
	case "DISMISSED":
		review.State = scm.Dismissed
	default:
		return scm.Review{}, false
	}
	return review, true
}

// permission is what GitHub reports about a login.
type permission struct {
	account identity.User // that has the login now; zero: not reported
	writes  bool
	none    bool // no account of a user has the login
}

// of returns the permission for a user: none if another account has the login now.
func (p permission) of(person identity.User) bool { return p.writes && p.isOf(person) }

// isOf reports whether the login is still that of a user, as far as GitHub reports it.
func (p permission) isOf(person identity.User) bool {
	return !p.none && (p.account.Login == "" || p.account.Same(person))
}

// writer reports whether a user may push, cached per reconciliation.
func (s signals) writer(ctx context.Context, person identity.User) (bool, error) {
	found, err := s.known(ctx, person)
	return found.of(person), err
}

func (s signals) known(ctx context.Context, person identity.User) (permission, error) {
	return s.repo.writers.Get(strings.ToLower(person.Login), func() (permission, error) { return s.permission(ctx, person) })
}

// Account implements scm.Accounts.
func (r *repository) Account(ctx context.Context, login string) (identity.User, error) {
	if !rest.IsName(login) {
		return identity.User{}, nil
	}
	found, _, err := r.forge.api.Users.Get(ctx, login)
	if statusOf(err) == http.StatusNotFound {
		return identity.User{}, nil
	}
	if account := r.forge.person(found); err == nil && identity.SameLogin(account.Login, login) {
		return account, nil
	}
	return identity.User{}, explain("account of "+rest.OneLine(login), err)
}

// MayWrite queries GitHub on each call.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	found, err := s.permission(ctx, person)
	return found.of(person), explain(s.repo.noun("permission of %s", rest.OneLine(person.Login)), err)
}

// permission fetches a permission. GitHub reports none for bots, and a deleted account
// has none.
func (s signals) permission(ctx context.Context, person identity.User) (permission, error) {
	if person.Bot || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repo.forge.host) {
		return permission{none: true}, nil
	}
	level, _, err := s.repo.forge.api.Repositories.GetPermissionLevel(ctx, s.repo.owner, s.repo.name, person.Login)
	if statusOf(err) == http.StatusNotFound {
		return permission{none: true}, nil
	}
	if err != nil {
		return permission{}, err
	}
	// maintain and custom roles of an organization are reported as the next lower of
	// these.
	// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
	writes := level.GetPermission() == "admin" || level.GetPermission() == "write"
	return permission{account: s.repo.forge.person(level.GetUser()), writes: writes}, nil
}

// Member queries a membership. GitHub hides teams from users who may not see them: a
// classic token without the scope is detected, for any other the team is empty.
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	group, slug, _ := strings.Cut(team, "/")
	if !rest.IsName(group) || !rest.IsName(slug) || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repo.forge.host) {
		return false, nil
	}
	membership, _, err := s.repo.forge.api.Teams.GetTeamMembershipBySlug(ctx, group, slug, person.Login)
	if err == nil && membership.GetState() == "active" {
		return s.hasLogin(ctx, person)
	}
	if statusOf(err) != http.StatusNotFound {
		return false, explain("members of team "+team, err)
	}
	if missing := scopesLacking(refused(err).Response.Header); missing != "" {
		return false, fault.New(fault.Unauthorized, "members of team %s%s", team, missing)
	}
	return false, nil
}

// hasLogin reports whether a member of a team is a user, because GitHub names no account in a
// membership. Where the token may not read permissions, or the user has no ID, the login counts.
func (s signals) hasLogin(ctx context.Context, person identity.User) (bool, error) {
	if person.ID == "" {
		return true, nil
	}
	found, err := s.known(ctx, person)
	if statusOf(err) == http.StatusForbidden {
		return true, nil
	}
	return found.isOf(person), explain(s.repo.noun("permission of %s", rest.OneLine(person.Login)), err)
}
