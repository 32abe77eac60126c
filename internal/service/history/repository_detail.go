package history

import (
	"cmp"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/store"
)

// repositoryDetailOf returns what users ask about a repository beside its targets, without the
// config.
func repositoryDetailOf(report outcome.Report) store.RepositoryDetail {
	var refused []store.RefusedFile
	for _, target := range slices.SortedFunc(maps.Keys(report.Refused), promotion.Target.Compare) {
		for _, refusal := range report.Refused[target] {
			refused = append(refused, store.RefusedFile{Environment: target.Environment, Application: target.Application, Refusal: refusal})
		}
	}
	slices.SortStableFunc(refused, func(a, b store.RefusedFile) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	var unfollowed []store.UnfollowedImage
	for _, branch := range slices.Sorted(maps.Keys(report.Unfollowed)) {
		for _, reference := range report.Unfollowed[branch] {
			unfollowed = append(unfollowed, store.UnfollowedImage{
				Branch: branch, File: reference.Position.File, Line: reference.Position.Line, Image: imageOf(reference),
			})
		}
	}
	return store.RepositoryDetail{Problems: report.Problems, Refused: store.ListOf(refused), Unfollowed: store.ListOf(unfollowed)}
}

// imageOf returns the image of a reference as users write it.
func imageOf(r edit.Reference) string {
	text := r.Repository.Familiar()
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}

// resolvedText returns a config with its defaults, or why that is unknown as a comment.
func resolvedText(c *config.Config) string {
	text, err := c.Resolved()
	if err != nil {
		return "# " + err.Error() + "\n"
	}
	return string(text)
}
