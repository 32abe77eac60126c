package view_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/access"
	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/store"
	"promoter/internal/view"
)

// restricted may read prod of one repository.
var restricted = access.Principal{Name: "token shop", Roles: []access.Role{access.Read}, Scope: access.Scope{
	Repositories: []string{"github.com/acme/shop"}, Environments: []string{"prod"},
}}

// pages returns all items of a list, read one by one, as text.
func pages[T any](t *testing.T, p access.Principal, query view.ListQuery, read func(context.Context, access.Principal, view.ListQuery) (view.Page[T], error), text func(T) string) (found []string) {
	t.Helper()
	query.Limit = 1
	for range 20 {
		page, err := read(t.Context(), p, query)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.Items {
			found = append(found, text(one))
		}
		if query.After = page.Next; page.Next == "" {
			return found
		}
	}
	t.Fatalf("the pages have no end: %q", found)
	return nil
}

func nameOf(n view.TargetName) string {
	return n.Repository + " " + n.Environment + "/" + n.Application
}

// Every list has each item once, whatever the size of its pages, within what the principal may
// read.
func TestLists(t *testing.T) {
	t.Parallel()
	v := open(t)
	environment := func(one view.EnvironmentTarget) string {
		return nameOf(one.TargetName) + " " + string(one.Status) + " " + one.Components[0].Version
	}
	promotion := func(one view.Promotion) string {
		return fmt.Sprintf("%s %s %d %s %v", nameOf(one.TargetName), one.State, one.PullRequest.Number, one.Commit, one.Changes)
	}
	landed := func(ctx context.Context, p access.Principal, q view.ListQuery) (view.Page[view.Promotion], error) {
		return v.Promotions(ctx, p, view.PromotionLanded, q)
	}
	opened := func(ctx context.Context, p access.Principal, q view.ListQuery) (view.Page[view.Promotion], error) {
		return v.Promotions(ctx, p, view.PromotionOpen, q)
	}
	shop := view.ListQuery{Repository: "acme/shop"}
	for name, c := range map[string]struct{ got, want []string }{
		"environments": {pages(t, all, view.ListQuery{}, v.Environments, environment), []string{
			"github.com/acme/billing prod/bill failed 2", "github.com/acme/shop dev/cart up to date 1.5",
			"github.com/acme/shop prod/cart waiting 1.4", "github.com/acme/shop prod/pay open 1",
		}},
		"environments of a repository": {pages(t, all, view.ListQuery{Repository: "acme/shop", Environment: "prod", Application: "cart"}, v.Environments, environment), []string{
			"github.com/acme/shop prod/cart waiting 1.4",
		}},
		"environments in a scope": {pages(t, restricted, view.ListQuery{}, v.Environments, environment), []string{
			"github.com/acme/shop prod/cart waiting 1.4", "github.com/acme/shop prod/pay open 1",
		}},
		"another repository": {pages(t, restricted, view.ListQuery{Repository: "acme/billing"}, v.Environments, environment), nil},
		"open promotions": {pages(t, all, shop, opened, promotion), []string{
			"github.com/acme/shop prod/pay open 7  [{web 3 3.1}]",
		}},
		"landed promotions": {pages(t, all, shop, landed, func(one view.Promotion) string { return nameOf(one.TargetName) + " " + one.Commit }), []string{
			"github.com/acme/shop prod/cart bbb", "github.com/acme/shop prod/cart aaa",
		}},
		"landed promotions of others": {pages(t, access.Principal{Roles: all.Roles, Scope: access.Scope{Environments: []string{"dev"}}}, shop, landed, promotion), nil},
		"evidence": {pages(t, all, view.ListQuery{}, v.Evidence, func(one view.Evidence) string { return nameOf(one.TargetName) + " " + one.Health.Status }), []string{
			"github.com/acme/billing prod/bill Degraded",
		}},
		"evidence of others": {pages(t, restricted, view.ListQuery{}, v.Evidence, func(one view.Evidence) string { return one.Health.Status }), nil},
		"decisions":          {pages(t, all, view.ListQuery{}, v.Decisions, func(one view.InEffect) string { return nameOf(one.TargetName) }), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	for _, after := range []string{"x", "eA", "eApi"} {
		if _, err := v.Environments(t.Context(), all, view.ListQuery{After: after, Limit: 1}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("after=%s: %v", after, err)
		}
		if _, err := v.Deliveries(t.Context(), all, view.ListQuery{After: after, Limit: 1}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("deliveries after=%s: %v", after, err)
		}
	}
}

// Deliveries that arrived at the same time, also with one ID for two receivers, are each listed
// once. A restricted principal sees none.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	v, db := filledDatabase(t, nil)
	err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		for _, one := range []store.DeliveryRef{{Receiver: "quay", Delivery: "2"}, {Receiver: "quay", Delivery: "1"}, {Receiver: "github", Delivery: "1"}} {
			if err := v.Store.Deliveries.Save(ctx, tx, store.Delivery{Receiver: one.Receiver, ID: one.Delivery, EventType: "push"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func(one view.Delivery) string { return one.Receiver + " " + one.ID }
	if diff := cmp.Diff([]string{"github 1", "quay 1", "quay 2"}, pages(t, all, view.ListQuery{}, v.Deliveries, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if found := pages(t, restricted, view.ListQuery{}, v.Deliveries, text); len(found) > 0 {
		t.Errorf("restricted: %q", found)
	}
}
