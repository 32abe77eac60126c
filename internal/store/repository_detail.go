package store

import (
	"context"
	"encoding/json"
	"fmt"

	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/edit"
)

// RepositoryDetail is what the last reconciliation found in a repository beside its targets.
type RepositoryDetail struct {
	// Config is the config file with its defaults. Where the file cannot be used now, it is the
	// last one that could; empty: there was none.
	Config string `json:"-"`
	// Problems are what loading the config file reported: errors where it cannot be used, else
	// warnings.
	Problems config.Problems `json:"problems,omitempty"`
	// Refused are the files, or locations in them, that promoter leaves unchanged.
	Refused List[RefusedFile] `json:"refused,omitzero"`
	// Unfollowed are images that no component follows where they are.
	Unfollowed List[UnfollowedImage] `json:"unfollowed,omitzero"`
}

// List is a list of limited length.
type List[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"` // also those that are left out
}

// MaxListed is the largest number of items of a List.
const MaxListed = 200

// ListOf returns the list of the first items.
func ListOf[T any](all []T) List[T] {
	return List[T]{Items: all[:min(len(all), MaxListed)], Total: len(all)}
}

// Left returns how many items are left out.
func (l List[T]) Left() int { return l.Total - len(l.Items) }

// RefusedFile is a refusal for a target.
type RefusedFile struct {
	Environment string `json:"environment"`
	Application string `json:"application,omitempty"`
	edit.Refusal
}

// UnfollowedImage is a reference to an image that no component follows where it is.
type UnfollowedImage struct {
	Branch string `json:"branch"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Image  string `json:"image"` // as users write it, with its tag and digest
}

// FoundDigest identifies what a reconciliation found in a repository.
type FoundDigest struct {
	All    string // of the detail and the targets
	Config string // of the config file that RepositoryDetail.Config is from; empty: it cannot be used
}

// RepositoryDetails are the details of all repositories.
type RepositoryDetails struct{ db *database.DB }

// Digest returns what was found by the reconciliation that wrote last; zero: there is none.
// Another replica may have been it.
func (d RepositoryDetails) Digest(ctx context.Context, repository string) (digest FoundDigest, err error) {
	err = viewOptional(ctx, d.db, []any{&digest.All, &digest.Config},
		"select digest, fingerprint from repository_detail where repository = ?", repository)
	return digest, err
}

// Set replaces the detail of a repository. The config stays if the new one is empty.
func (d RepositoryDetails) Set(ctx context.Context, tx *database.Tx, repository string, digest FoundDigest, detail RepositoryDetail) error {
	content, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("store the detail of %s: %w", repository, err)
	}
	_, err = tx.Exec(ctx, `
insert into repository_detail (repository, digest, fingerprint, config, content) values (?, ?, ?, ?, ?)
on conflict (repository) do update set digest = excluded.digest, content = excluded.content, fingerprint = excluded.fingerprint,
	config = case when excluded.config = '' then repository_detail.config else excluded.config end`,
		repository, digest.All, digest.Config, storable(detail.Config), storable(string(content)))
	return err
}

// Change replaces the detail of a repository of which some targets changed, if they or the detail
// did. Nothing identifies what is stored then.
func (d RepositoryDetails) Change(ctx context.Context, tx *database.Tx, repository string, detail RepositoryDetail, targets bool) error {
	content, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("store the detail of %s: %w", repository, err)
	}
	text, changed := storable(string(content)), 0
	if targets {
		changed = 1
	}
	_, err = tx.Exec(ctx, `
update repository_detail set digest = '', content = ?
where repository = ? and (content <> ? or digest <> '' and ? = 1)`, text, repository, text, changed)
	return err
}

// Get returns the detail of a repository; zero: there is none.
func (d RepositoryDetails) Get(ctx context.Context, repository string) (detail RepositoryDetail, err error) {
	var content string
	err = viewOptional(ctx, d.db, []any{&detail.Config, &content},
		"select config, content from repository_detail where repository = ?", repository)
	if err != nil || content == "" {
		return detail, err
	}
	if err := json.Unmarshal([]byte(content), &detail); err != nil {
		return detail, fmt.Errorf("read the detail of %s: %w", repository, err)
	}
	return detail, nil
}
