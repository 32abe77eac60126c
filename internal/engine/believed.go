package engine

import (
	"context"
	"fmt"

	"promoter/internal/promotion"
)

// maxRead is how many landed commits of one place are read again to believe them.
const maxRead = 50

// believed drops landings of which the files say something else. Trailers are
// words: whoever gets any commit merged may write some, and what they claim would
// become a version to roll back to, or one that was taken back. What promoter
// pushed itself is not read again; older layouts of the files tell nothing.
func (v *view) believed(ctx context.Context, target promotion.Target, found []promotion.Landing) ([]promotion.Landing, error) {
	var kept []promotion.Landing
	read := 0
	for _, l := range found {
		commit, err := v.Objects.Commit(l.Commit)
		if err != nil {
			return nil, err
		}
		if !v.isOurs(commit) {
			if read++; read > maxRead {
				continue
			}
			present, err := v.presentIn(ctx, target, l.Commit)
			if err != nil {
				return nil, err
			}
			if len(present.References) > 0 && !says(present, l.Snapshot) {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept, nil
}

// presentIn returns what the files of a place say in a commit. The commit may have
// brought several applications: its files are read once.
func (v *view) presentIn(ctx context.Context, target promotion.Target, commit string) (promotion.Current, error) {
	key := target.Environment + " " + commit
	tree, read := v.past[key]
	if !read {
		var err error
		if tree, err = v.Files.At(ctx, v.observed.Config, commit, []string{target.Environment}); err != nil {
			return promotion.Current{}, fmt.Errorf("read the files of %.7s: %w", commit, err)
		}
		v.past[key] = tree
	}
	return tree.Targets()[target], nil
}
