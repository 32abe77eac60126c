package condition

import (
	"cmp"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// VersionsDiffer returns the reason if the application requires one version for
// all components and the snapshot has several.
func VersionsDiffer(in input.Target, moves []promotion.Move) (promotion.Reason, bool) {
	if !in.Config.Application(in.Target.Application).SameVersion {
		return promotion.Reason{}, false
	}
	in = in.For(otherConditions[ofSameVersion])
	version := func(v image.Version) string { return cmp.Or(v.Version, v.Tag) }
	snapshot := in.Snapshot(moves)
	components := snapshot.Components()
	for _, component := range components[1:] {
		if version(snapshot[component].Version) != version(snapshot[components[0]].Version) {
			return promotion.Reasonf(promotion.RuleSameVersion, "sameVersion: the components have different versions: %s", snapshot), true
		}
	}
	return promotion.Reason{}, false
}
