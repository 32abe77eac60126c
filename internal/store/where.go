package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"promoter/internal/database"
)

// ApplicationKey identifies an application of any repository.
type ApplicationKey struct{ Repository, Application string }

// maxNamed limits the applications that Naming returns.
const maxNamed = 200

// Naming returns the applications whose targets, now or in the history, have a version with a
// tag, with or without a "v" before it, or with a digest, a source commit, or the commit of a
// landing that begins with some hex digits. Case is ignored. Empty digits are none.
func (t Targets) Naming(ctx context.Context, tag, hex string) (all []ApplicationKey, err error) {
	versions := []string{field("tag", tag) + `"`, field("tag", "v"+tag) + `"`}
	var commits []any
	if hex != "" {
		versions = append(versions, field("digest", hex), field("digest", "sha256:"+hex), field("revision", hex))
		commits = append(commits, escapeLike(strings.ToLower(hex))+"%")
	}
	contains := func(column string) string { return like("lower("+column+")", len(versions)) }
	patterns := make([]any, 0, len(versions))
	for _, one := range versions {
		patterns = append(patterns, "%"+escapeLike(one)+"%")
	}
	err = t.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var one ApplicationKey
			err := scan(&one.Repository, &one.Application)
			all = append(all, one)
			return err
		}, `
select repository, application from (
	select repository, application from target where `+contains("content")+`
	union
	select repository, application from history where `+contains("versions")+` or `+like("commit_id", len(commits))+`) as found
order by repository, application limit ?`, append(slices.Concat(patterns, patterns, commits), maxNamed)...)
	})
	return all, err
}

// field is the beginning of a field of JSON, in lower case, up to where the text continues.
func field(name, text string) string {
	encoded, _ := json.Marshal(storable(strings.ToLower(text))) // of a text, without an error
	return `"` + name + `":` + strings.TrimSuffix(string(encoded), `"`)
}

// like is the condition that a column matches one of some patterns; of none, it is false.
func like(column string, patterns int) string {
	return "(1 = 0" + strings.Repeat(" or "+column+" like ? escape '!'", patterns) + ")"
}
