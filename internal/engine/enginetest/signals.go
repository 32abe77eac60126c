package enginetest

import (
	"context"
	"slices"
	"strings"

	"promoter/internal/identity"
	"promoter/internal/scm"
)

type signals struct{ *Forge }

// Checks implements scm.Signals. Our own status can be read where the rest fails.
func (f signals) Checks(_ context.Context, commit string) ([]scm.Check, error) {
	failed := f.failing("checks")
	defer f.call("checks")()
	latest := map[string]scm.Check{}
	for _, c := range f.statuses[commit] {
		if failed == nil || c.Own {
			latest[c.Name] = c
		}
	}
	var all []scm.Check
	for _, c := range latest {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b scm.Check) int { return strings.Compare(a.Name, b.Name) })
	return all, failed
}

// Reviews implements scm.Signals.
func (f signals) Reviews(_ context.Context, number int) ([]scm.Review, error) {
	if err := f.failing("reviews"); err != nil {
		return nil, err
	}
	defer f.call("reviews")()
	return slices.Clone(f.find(number).reviews), nil
}

// SetStatus implements scm.Signals.
func (f signals) SetStatus(_ context.Context, commit string, status scm.Status) error {
	return f.write("status", func() error {
		f.statuses[commit] = append(f.statuses[commit], scm.Check{
			Name: status.Context, State: status.State, Description: status.Description, At: f.Now(), Own: true,
		})
		return nil
	})
}

// Member implements scm.Signals: the name of a team says who is in it.
func (f signals) Member(_ context.Context, team string, person identity.User) (bool, error) {
	if err := f.failing("member"); err != nil {
		return false, err
	}
	defer f.call("member")()
	return strings.HasSuffix(team, "/"+person.Login), nil
}

// MayWrite implements scm.Signals.
func (f signals) MayWrite(context.Context, identity.User) (bool, error) { return true, nil }
