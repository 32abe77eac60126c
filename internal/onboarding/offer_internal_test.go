package onboarding

import (
	"context"
	"testing"

	"promoter/internal/identity"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/observe"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// offering is a forge with one open onboarding pull request, whose branches are
// listed again.
type offering struct {
	scm.Repository
	repo.Remote

	head string // of the onboarding branch now
}

var offeringSelf = identity.User{Host: "forge.example", Login: "promoter"}

func (o offering) PullRequests() scm.PullRequests { return openOffer{} }
func (o offering) Info() scm.Info                 { return scm.Info{Self: offeringSelf} }

// openOffer lists the pull request.
type openOffer struct{ scm.PullRequests }

func (openOffer) Open(context.Context) ([]scm.PullRequest, error) {
	return []scm.PullRequest{{Number: 1, Author: offeringSelf, Head: scm.Head{Own: true, Branch: pullrequest.OnboardingBranch}}}, nil
}

func (o offering) Refs(context.Context) (repo.Refs, error) {
	refs := repo.Refs{Branches: map[string]string{}}
	if o.head != "" {
		refs.Branches[pullrequest.OnboardingBranch] = o.head
	}
	return refs, nil
}

// Another replica pushes and opens between the listing of the branches and that of the
// pull requests: no user declined.
func TestReadPullRequests_openedMeanwhile(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]State{"": Declined, "pushed": LeftAlone} {
		forge := offering{head: head}
		o := &offer{reconciler: &reconcile.Reconciler{Clients: observe.Clients{Forge: forge, Remote: forge}}}
		_, result, err := o.readPullRequests(t.Context())
		if err != nil || result == nil || result.State != want {
			t.Errorf("the branch is %q: %+v, %v, want %s", head, result, err, want)
		}
	}
}
