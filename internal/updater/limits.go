package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	paths := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	var most []string
	for _, path := range paths[:min(len(paths), 3)] {
		most = append(most, fmt.Sprintf("%s (%d)", path, sizes[path]))
	}
	return fault.New(fault.Invalid, "%w: more than %d in the files of the branch, for example in %s", errTooMany, maxFound, strings.Join(most, ", "))
}

// charged analyzes a file, unless the context ended, and charges the budget of the context
// for parsing it.
func (u *Updater) charged(ctx context.Context, file File, known *sources) (analysis, error) {
	if ctx.Err() != nil {
		return analysis{}, context.Cause(ctx)
	}
	a := u.analyze(file, known)
	return a, budget.Spend(ctx, budget.Parsed, file.Path, int64(a.parsed))
}
