package app

import (
	"context"
	"testing"

	"promoter/internal/engine"
	"promoter/internal/identity"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// offering is a forge with one open onboarding pull request, whose branches are
// listed anew.
type offering struct {
	scm.Repository
	engine.Remote

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

func (o offering) Refs(context.Context) (engine.Refs, error) {
	refs := engine.Refs{Branches: map[string]string{}}
	if o.head != "" {
		refs.Branches[pullrequest.OnboardingBranch] = o.head
	}
	return refs, nil
}

// Another replica pushes and opens between the list of the branches and that of the
// pull requests: nobody declined.
func TestAsking_anotherReplicaOpensMeanwhile(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]OnboardingState{"": OnboardingDeclined, "pushed": OnboardingLeft} {
		forge := offering{head: head}
		a := &asking{reconciler: &engine.Reconciler{Repository: forge, Remote: forge}}
		came, err := a.asked(t.Context())
		if err != nil || came == nil || came.State != want {
			t.Errorf("the branch is %q: %+v, %v, want %s", head, came, err, want)
		}
	}
}
