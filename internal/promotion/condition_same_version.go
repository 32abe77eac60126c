package promotion

import (
	"cmp"

	"promoter/internal/image"
)

// versionsDiffer returns the reason if the application requires one version for
// all components and the snapshot has several.
func versionsDiffer(in *input, moves []Move) (Reason, bool) {
	if !in.obs.Config.Application(in.target.Application).SameVersion {
		return Reason{}, false
	}
	version := func(v image.Version) string { return cmp.Or(v.Version, v.Tag) }
	snapshot := in.snapshot(moves)
	components := snapshot.Components()
	for _, component := range components[1:] {
		if version(snapshot[component].Version) != version(snapshot[components[0]].Version) {
			return Reason{Rule: RuleSameVersion, Message: "sameVersion: the components have different versions: " + snapshot.String()}, true
		}
	}
	return Reason{}, false
}
