package view

import (
	"context"

	"promoter/internal/access"
	"promoter/internal/config"
	"promoter/internal/store"
)

// Repository is what the last reconciliation found in a repository beside its applications.
type Repository struct {
	Repository string `json:"repository"` // HOST/OWNER/NAME
	Key        string `json:"key"`
	// Partial is set if the principal may read only some applications or environments. The rest
	// is left out then, because it is about all of them.
	Partial bool `json:"partial,omitempty"`
	// Config is the config file with its defaults. If the file cannot be used, it is the last one
	// that could.
	Config string `json:"config,omitempty"`
	// Problems are what loading the config file reported: errors if it cannot be used, else
	// warnings.
	Problems config.Problems `json:"problems"`
	// Refused are the files, or locations in them, that promoter leaves unchanged.
	Refused store.List[store.RefusedFile] `json:"refused"`
	// Unfollowed are images that no component follows where they are.
	Unfollowed store.List[store.UnfollowedImage] `json:"unfollowed"`
}

// Broken reports whether the config file cannot be used.
func (r Repository) Broken() bool { return len(r.Problems.Errors()) > 0 }

// Repository returns one repository.
func (v *View) Repository(ctx context.Context, p access.Principal, repository string) (Repository, error) {
	key, name, err := v.repository(ctx, p, repository)
	if err != nil {
		return Repository{}, err
	}
	found := Repository{
		Repository: name, Key: key, Problems: config.Problems{},
		Refused: store.ListOf([]store.RefusedFile{}), Unfollowed: store.ListOf([]store.UnfollowedImage{}),
	}
	if found.Partial = !p.MayAll(access.Read, name); found.Partial {
		return found, nil
	}
	detail, err := v.Store.Details.Get(ctx, key)
	if err != nil {
		return found, err
	}
	found.Config = detail.Config
	found.Problems = append(found.Problems, detail.Problems...)
	found.Refused.Items = append(found.Refused.Items, detail.Refused.Items...)
	found.Refused.Total = detail.Refused.Total
	found.Unfollowed.Items = append(found.Unfollowed.Items, detail.Unfollowed.Items...)
	found.Unfollowed.Total = detail.Unfollowed.Total
	return found, nil
}
