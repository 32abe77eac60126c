package input

import (
	"promoter/internal/promotion"
)

// OpenPullRequest returns the open pull request of the target.
func (in *Target) OpenPullRequest() (promotion.Open, bool) {
	if len(in.Obs.Open) == 0 {
		return promotion.Open{}, false
	}
	open, found := in.Obs.Open[promotion.HeadOf(in.Settings, in.Target.Application)]
	return open, found
}

// MovesTo returns the moves from the files to a snapshot, without those that would
// lead to an older version.
func (in *Target) MovesTo(snapshot promotion.Snapshot) []promotion.Move {
	var found []promotion.Move
	for _, ref := range in.Refs {
		pinned, known := snapshot[ref.Component]
		if !known || pinned.Repository != ref.Repository {
			continue
		}
		to := in.Obs.Facts.Describe(pinned.Repository, pinned.Version)
		if _, back := ref.NewerThan(to, in.Obs.Policies[ref.Component]); back {
			continue
		}
		if move, moves := in.MoveTo(ref, to); moves {
			found = append(found, move)
		}
	}
	return found
}
