package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/delivery"
	"promoter/internal/store"
)

// The metrics are those of the report of 30 days; results and lead times begin with the service.
func TestComputeRecent(t *testing.T) {
	t.Parallel()
	now := at("16 12:00")
	got, err := delivery.ComputeRecent(history(), at("11 10:00"), now)
	if err != nil {
		t.Fatal(err)
	}
	report, err := delivery.Compute(history(), delivery.Query{Since: now.AddDate(0, 0, -30)}, now)
	if err != nil {
		t.Fatal(err)
	}
	want := []delivery.Recent{
		{Environment: "dev", Metrics: report.Groups[0].Total, Results: map[string]int{}},
		{
			Environment: "prod", Metrics: report.Groups[1].Total,
			Results: map[string]int{delivery.ResultDeployed: 2, delivery.ResultFailed: 1}, LeadTimes: []time.Duration{90 * time.Minute},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Results that are older than the metrics stay: a counter must not decrease.
func TestComputeRecent_keepsResults(t *testing.T) {
	t.Parallel()
	p := store.Progress{Milestones: told("dev",
		"02 01:00 opened a #1", "02 02:00 closed a #1", // by promoter
		"02 03:00 opened a #2", "02 04:00 reject - #2", // by a user
		"02 05:00 opened a #3", "02 06:00 landed a #3", "03 01:00 landed b", "03 02:00 landed a",
	)}
	want := map[string]int{delivery.ResultClosed: 2, delivery.ResultDeployed: 2, delivery.ResultFailed: 1, delivery.ResultRollback: 1}
	for _, now := range []time.Time{at("04 00:00"), at("04 00:00").AddDate(0, 2, 0)} {
		got, err := delivery.ComputeRecent(p, at("01 00:00"), now)
		if err != nil || len(got) != 1 || got[0].Environment != "dev" || got[0].Deployments != 2 && now.Month() == time.November {
			t.Fatalf("%+v, %v", got, err)
		}
		if diff := cmp.Diff(want, got[0].Results); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", now, diff)
		}
	}
}

// The read is limited to 90 days, or to when the service started.
func TestReadRecent_limitsTheHistory(t *testing.T) {
	t.Parallel()
	kind := databasetest.Kinds()[0]
	db := databasetest.Open(t, kind.New(t))
	now := at("16 12:00")
	var events []store.Event
	for _, days := range []int{100, 80, 10} {
		at := now.AddDate(0, 0, -days)
		events = append(events, store.Event{
			Repository: key, Environment: "dev", Application: "shop", Action: store.EventLanded, At: at, Commit: at.String(), Snapshot: at.String(),
		})
	}
	if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := store.New(db).AddEvents(ctx, tx, events)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for days, want := range map[int]int{0: 0, 20: 1, 95: 2, 100: 3} {
		got, err := delivery.ReadRecent(t.Context(), store.New(db).Milestones, now.AddDate(0, 0, -days), now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int{delivery.ResultDeployed: want}, got[0].Results, cmpopts.IgnoreMapEntries(func(_ string, n int) bool { return n == 0 })); diff != "" {
			t.Errorf("%d days (-want +got):\n%s", days, diff)
		}
		if got[0].Deployments != 1 {
			t.Errorf("%d days: %d deployments", days, got[0].Deployments)
		}
	}
}
