package updater

import (
	"context"
	"errors"

	"promoter/internal/budget"
	"promoter/internal/fault"
)

// maxFound limits the references and refusals of one branch, because all of them are kept
// in memory and decided about: four times those of the largest measured repository.
const maxFound = 200_000

var errTooMany = errors.New("too many references")

// tooMany is the error of a branch with more than maxFound references, and names the files
// with the most of them.
func tooMany(sizes map[string]int) error {
	return fault.New(fault.Invalid, "%w: more than %d in the files of the branch, for example in %s", errTooMany, maxFound, budget.Largest(sizes))
}

// charged analyzes a file, unless the context ended, and charges the budget of the context
// for parsing it.
func (u *Updater) charged(ctx context.Context, file File, known sources) (analysis, error) {
	if ctx.Err() != nil {
		return analysis{}, context.Cause(ctx)
	}
	a := u.analyze(file, known)
	return a, budget.Spend(ctx, budget.Parsed, file.Path, int64(a.parsed))
}
