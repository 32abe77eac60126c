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

// VersionName is what a text may name of a version, in upper or lower case. Empty fields name
// nothing.
type VersionName struct {
	Tag    string // with or without a "v" before it
	Digits string // the first digits of a digest, a source commit, or the commit of a landing
	// PullRequest is a pull request of the source: #NUMBER, or HOST/OWNER/NAME#NUMBER without
	// some of its first segments.
	PullRequest string
}

// Naming returns the applications whose readable targets, now or in the history, have a version with
// a name. A few may only mention its pull request. The function is asked with the key of a repository.
func (t Targets) Naming(ctx context.Context, name VersionName, readable func(TargetKey) bool) ([]ApplicationKey, error) {
	var versions []string
	var commits []any
	if name.Tag != "" {
		versions = append(versions, field("tag", name.Tag)+`"`, field("tag", "v"+name.Tag)+`"`)
	}
	if hex := name.Digits; hex != "" {
		versions = append(versions, field("digest", hex), field("digest", "sha256:"+hex), field("revision", hex))
		commits = append(commits, escapeLike(strings.ToLower(hex))+"%")
	}
	if pull := text(name.PullRequest); strings.HasPrefix(pull, "#") {
		versions = append(versions, pull+`"`)
	} else if pull != "" {
		versions = append(versions, `"`+pull+`"`, "/"+pull+`"`)
	}
	contains := func(column string) string { return like("lower("+column+")", len(versions)) }
	patterns := make([]any, 0, len(versions))
	for _, one := range versions {
		patterns = append(patterns, "%"+escapeLike(one)+"%")
	}
	query := `
select repository, application, environment from (
	select repository, application, environment from target where ` + contains("content") + `
	union
	select repository, application, environment from history
	where ` + contains("versions") + ` or ` + like("commit_id", len(commits)) + `) as found
order by repository, application`
	targets, err := viewRows(ctx, t.db, func(scan database.Scan, one *TargetKey) error {
		return scan(&one.Repository, &one.Application, &one.Environment)
	}, query, slices.Concat(patterns, patterns, commits)...)
	var found []ApplicationKey
	for _, one := range targets {
		key := ApplicationKey{one.Repository, one.Application}
		if readable(one) && !slices.Contains(found, key) {
			found = append(found, key)
		}
		if len(found) == maxNamed {
			break
		}
	}
	return found, err
}

// field is the beginning of a field of JSON, in lower case, up to where the text continues.
func field(name, value string) string { return `"` + name + `":"` + text(value) }

// text is a text as it is in JSON, in lower case, without its quotes.
func text(value string) string {
	encoded, _ := json.Marshal(storable(strings.ToLower(value))) // of a text, without an error
	return string(encoded[1 : len(encoded)-1])
}

// like is the condition that a column matches one of some patterns; of none, it is false.
func like(column string, patterns int) string {
	return "(1 = 0" + strings.Repeat(" or "+column+" like ? escape '!'", patterns) + ")"
}
