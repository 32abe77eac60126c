package promotion

import (
	"fmt"

	"promoter/internal/config"
	"promoter/internal/verb"
)

// tagged requires that a tag points to the digest of every move.
func tagged(parent config.Parent) []parentCondition {
	if parent.Tagged == "" {
		return nil
	}
	return []parentCondition{{name: "tagged " + parent.Tagged, key: verb.BypassTagged, ofVersions: func(in *input, moves []Move, c *Condition) {
		for _, move := range moves {
			fact, known := in.obs.Facts[Fact{Repository: repositoryOf(in, move.Component), Tag: parent.Tagged}]
			switch {
			case !known || move.To.Digest == "":
				c.State, c.Reason = Unknown, fmt.Sprintf("unknown for %s", move.Component)
				return
			case isMissing(fact):
				c.State, c.Reason = Pending, fmt.Sprintf("%s: the registry has no such tag", move.Component)
				return
			case fact.Digest != move.To.Digest:
				c.State = Pending
				c.Reason = fmt.Sprintf("%s: the tag points to %s instead of %s",
					move.Component, ShortDigest(fact.Digest), ShortDigest(move.To.Digest))
				return
			}
		}
		c.State = Passed
	}}}
}
