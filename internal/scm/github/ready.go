package github

import (
	"context"
)

// Ready reads the state that GitHub computes of a single pull request, and that no list has. It knows what no other request of
// the REST API does, such as open conversations. A merge with failed checks that are not required is "unstable".
// https://docs.github.com/en/graphql/reference/enums#mergestatestatus
func (r *repository) Ready(ctx context.Context, number int) (bool, error) {
	noun := r.noun("pull request %d", number)
	pull, _, err := r.forge.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err = explain(noun, err); err != nil {
		return false, err
	}
	switch pull.GetMergeableState() {
	case "clean", "unstable", "has_hooks":
		return pull.GetState() == "open", nil
	default: // "blocked", "behind", "dirty", "draft", or "unknown": it is computed after the request
		return false, nil
	}
}
