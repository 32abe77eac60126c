package condition

import (
	"fmt"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/verb"
)

// tagged requires that a tag points to the digest of every move.
func tagged(all []parentCondition, parent *setting.Parent) []parentCondition {
	if parent.Tagged == "" {
		return all
	}
	return append(all, parentCondition{name: "tagged " + parent.Tagged, key: verb.BypassTagged, ofVersions: pointsTo})
}

func pointsTo(in input.Target, parent *setting.Parent, moves []promotion.Move, c *promotion.Condition) {
	facts := in.Registry().Facts
	for _, move := range moves {
		fact, known := facts[promotion.Fact{Repository: in.RepositoryOf(move.Component), Tag: parent.Tagged}]
		switch {
		case !known || move.To.Digest == "":
			c.State, c.Reason = promotion.Unknown, "unknown for "+move.Component
			return
		case promotion.IsMissing(fact):
			c.State, c.Reason = promotion.Pending, move.Component+": the registry has no such tag"
			return
		case fact.Digest != move.To.Digest:
			c.State = promotion.Pending
			c.Reason = fmt.Sprintf("%s: the tag points to %s instead of %s",
				move.Component, promotion.ShortDigest(fact.Digest), promotion.ShortDigest(move.To.Digest))
			return
		}
	}
	c.State = promotion.Passed
}
