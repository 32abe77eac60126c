package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"promoter/internal/database"
)

// ApplicationKey identifies an application of any repository.
type ApplicationKey struct{ Repository, Application string }

// maxNamed limits the applications that Naming returns.
const maxNamed = 200

// Naming returns the applications whose targets, now or in the history, have a text as a part
// of a version or of the commit of a landing. The text is at least 2 characters.
func (s *Store) Naming(ctx context.Context, text string) (all []ApplicationKey, err error) {
	encoded, err := json.Marshal(strings.ToLower(text)) // as it is in JSON
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", text, err)
	}
	pattern := "%" + escapeLike(storable(strings.Trim(string(encoded), `"`))) + "%"
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var one ApplicationKey
			err := scan(&one.Repository, &one.Application)
			all = append(all, one)
			return err
		}, `
select repository, application from (
	select repository, application from target where lower(content) like ? escape '!'
	union
	select repository, application from history where lower(versions) like ? escape '!' or commit_id like ? escape '!') as found
order by repository, application limit ?`, pattern, pattern, pattern, maxNamed)
	})
	return all, err
}
