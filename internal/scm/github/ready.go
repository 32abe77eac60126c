package github

import (
	"context"
)

// Ready implements scm.Readiness. A merge with failed checks that are not required is "unstable".
func (r *repository) Ready(ctx context.Context, number int) (bool, error) {
	state, err := r.mergeState(ctx, number)
	return state == "clean" || state == "unstable" || state == "has_hooks", err
}

// Conflicts implements scm.Conflicting.
func (r *repository) Conflicts(ctx context.Context, number int) (bool, error) {
	state, err := r.mergeState(ctx, number)
	return state == "dirty", err
}

// mergeState returns the state that GitHub computes of a single pull request, and that no list has. It knows what no other request of
// the REST API does, such as open conversations. It is "unknown" until it is computed, which a request causes, and empty if the
// pull request is closed.
// https://docs.github.com/en/graphql/reference/enums#mergestatestatus
func (r *repository) mergeState(ctx context.Context, number int) (string, error) {
	pull, _, err := r.forge.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return "", explain(r.noun("pull request %d", number), err)
	}
	if pull.GetState() != "open" {
		return "", nil
	}
	return pull.GetMergeableState(), nil
}
