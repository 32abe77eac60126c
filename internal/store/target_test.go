package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/store"
)

// Targets of some applications replace their rows, and no others. Where a target came or went, all
// of them have to be written.
func TestTargets_SetOf(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const key = "github.com/7"
		target := func(environment, application, state string, position int) store.Target {
			return store.Target{Environment: environment, Application: application, State: state, Position: position}
		}
		set := func(targets ...store.Target) {
			b.write(func(ctx context.Context, tx *database.Tx) error { return b.Targets.Set(ctx, tx, key, targets) })
		}
		setOf := func(applications []string, targets ...store.Target) (done bool, written int) {
			b.write(func(ctx context.Context, tx *database.Tx) (err error) {
				done, written, err = b.Targets.SetOf(ctx, tx, key, []string{"dev", "prod"}, applications, targets)
				return err
			})
			return done, written
		}
		states := func() (all []string) {
			targets, err := b.Targets.List(b.Context(), key, "", "")
			if err != nil {
				b.Fatal(err)
			}
			for _, one := range targets {
				all = append(all, one.Environment+"/"+one.Application+" "+one.State)
			}
			return all
		}
		set(target("dev", "cart", "same", 0), target("dev", "shop", "same", 1), target("prod", "shop", "same", 2))

		if done, written := setOf([]string{"shop"}, target("dev", "shop", "proposed", 1), target("prod", "shop", "same", 2)); !done || written != 1 {
			b.Errorf("one of two changed: %v, %d written", done, written)
		}
		if done, written := setOf([]string{"shop"}, target("dev", "shop", "proposed", 1), target("prod", "shop", "same", 2)); !done || written != 0 {
			b.Errorf("nothing changed: %v, %d written", done, written)
		}
		for name, targets := range map[string][]store.Target{
			"a target went":      {target("dev", "shop", "waiting", 1)},
			"a target came":      {target("dev", "shop", "waiting", 1), target("prod", "shop", "same", 2), target("prod", "cart", "same", 3)},
			"another one":        {target("dev", "shop", "waiting", 1), target("test", "shop", "same", 2)},
			"at other positions": {target("dev", "shop", "waiting", 0), target("prod", "shop", "same", 2)},
		} {
			if done, _ := setOf([]string{"shop"}, targets...); done {
				b.Errorf("%s: it was not noticed", name)
			}
		}
		if diff := cmp.Diff([]string{"dev/cart same", "dev/shop proposed", "prod/shop same"}, states()); diff != "" {
			b.Errorf("stored (-want +got):\n%s", diff)
		}
	})
}
