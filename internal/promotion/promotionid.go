package promotion

import (
	"fmt"
	"strings"

	"promoter/internal/identity"
)

// ID names one promotion, which is one attempt to bring a snapshot into a place, for good:
// REPOSITORY KEY/ENVIRONMENT/APPLICATION/SNAPSHOT/ATTEMPT with the first twelve
// digits of the snapshot's id. Attempts count from 1: a snapshot that is taken
// back and proposed again is a promotion of its own. The format must not change.
func ID(repository identity.RepositoryKey, target Target, snapshotID string, attempt int) string {
	digits := strings.TrimPrefix(snapshotID, snapshotScheme)
	return fmt.Sprintf("%s/%s/%s/%s/%d", repository, target.Environment, target.Application,
		digits[:min(len(digits), shortHex)], attempt)
}

// snapshotScheme is how every id of a snapshot begins. See Snapshot.ID.
const snapshotScheme = "v1:"
