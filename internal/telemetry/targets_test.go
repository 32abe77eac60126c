package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"promoter/internal/delivery"
	"promoter/internal/store"
	"promoter/internal/telemetry"
)

// holds reports the lines that a page does not have.
func holds(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}

func TestTargets_areCountedByEnvironment(t *testing.T) {
	t.Parallel()
	var now clock
	now.advance(10 * time.Hour)
	ago := func(d time.Duration) time.Time { return now.Now().Add(-d) }
	m := telemetry.New(telemetry.Options{Work: noWork, Now: now.Now, Targets: func(context.Context) ([]store.TargetRow, error) {
		return []store.TargetRow{
			{Environment: "dev", State: "same", Health: "Healthy"},
			{Environment: "prod", State: "waiting", Since: ago(time.Hour), Health: "failed"},
			{Environment: "prod", State: "waiting", Since: ago(2 * time.Hour)},
			{Environment: "prod", State: "proposed", Opened: ago(3 * time.Hour)},
			{Environment: "prod", State: "proposed", Opened: ago(time.Minute)},
			{Environment: "prod", State: "proposed", Opened: ago(-time.Hour)}, // the clock of the forge differs
		}, nil
	}})
	holds(t, page(t, m),
		`promoter_targets{environment="dev",state="same"} 1`, `promoter_targets{environment="prod",state="waiting"} 2`,
		`promoter_targets{environment="prod",state="proposed"} 3`,
		`promoter_health_targets{environment="dev",status="Healthy"} 1`, `promoter_health_targets{environment="prod",status="failed"} 1`,
		`promoter_oldest_open_pull_request_seconds{environment="dev"} 0`, `promoter_oldest_open_pull_request_seconds{environment="prod"} 10800`,
		`promoter_oldest_waiting_seconds{environment="prod"} 7200`,
	)
}

// Environments beyond the limit share a label, except for quantiles, which cannot be joined.
// Those with the most targets or deployments keep theirs.
func TestEnvironments_areLimited(t *testing.T) {
	t.Parallel()
	m := telemetry.New(telemetry.Options{
		Work: noWork, Now: time.Now,
		Targets: func(context.Context) (all []store.TargetRow, err error) {
			for i := range 1000 {
				all = append(all, store.TargetRow{Environment: fmt.Sprintf("e%03d", i), State: "same", Health: "Healthy"})
			}
			return append(all, store.TargetRow{Environment: "e999", State: "same"}), nil
		},
		Deliveries: func(context.Context) (all []delivery.Recent, err error) {
			for i := range 1000 {
				one := delivery.Recent{
					Environment: fmt.Sprintf("e%03d", i), Metrics: delivery.Metrics{Deployments: i, LeadTime: delivery.Times{Count: 1}},
					Results: map[string]int{"deployed": 1}, LeadTimes: []time.Duration{time.Hour},
				}
				for j := range 50 {
					one.Gates = append(one.Gates, delivery.Gate{Name: fmt.Sprintf("g%02d", j), Times: delivery.Times{Count: j + 1}})
				}
				all = append(all, one)
			}
			return all, nil
		},
	})
	text := page(t, m)
	for name, want := range map[string]int{
		"promoter_targets{": 51, "promoter_health_targets{": 51, "promoter_oldest_waiting_seconds{": 51, "promoter_promotions_total{": 51,
		"promoter_lead_time_seconds_count{": 51, "promoter_delivery_deployments{": 50, "promoter_delivery_lead_time_seconds{": 100,
		"promoter_delivery_gate_seconds{": 2000,
	} {
		if got := strings.Count(text, "\n"+name); got != want {
			t.Errorf("%d series %s, want %d", got, name, want)
		}
	}
	holds(t, text,
		`promoter_targets{environment="e999",state="same"} 2`, `promoter_targets{environment="(other)",state="same"} 950`,
		`promoter_promotions_total{environment="(other)",result="deployed"} 950`, `promoter_promotions_total{environment="e999",result="deployed"} 1`,
		`promoter_lead_time_seconds_bucket{environment="(other)",le="1800"} 0`, `promoter_lead_time_seconds_bucket{environment="(other)",le="3600"} 950`,
		`promoter_lead_time_seconds_sum{environment="e999"} 3600`, `promoter_delivery_deployments{environment="e999"} 999`,
		`promoter_delivery_gate_seconds{environment="e950",gate="g30",quantile="0.9"} 0`,
	)
}

func TestDeliveries_haveQuantiles(t *testing.T) {
	t.Parallel()
	m := telemetry.New(telemetry.Options{Work: noWork, Now: time.Now, Deliveries: func(context.Context) ([]delivery.Recent, error) {
		return []delivery.Recent{{
			Environment: "prod",
			Metrics: delivery.Metrics{
				Deployments: 4, Failed: 2, Rollbacks: 1,
				LeadTime: delivery.Times{Count: 2, Median: delivery.Duration(90 * time.Minute), P90: delivery.Duration(24 * time.Hour)},
				Gates: []delivery.Gate{
					{Name: "staging soak", Times: delivery.Times{Count: 1, Median: delivery.Duration(time.Hour), P90: delivery.Duration(2 * time.Hour)}},
					{Name: "approvals"},
				},
			},
		}}, nil
	}})
	text := page(t, m)
	holds(t, text,
		`promoter_delivery_deployments{environment="prod"} 4`, `promoter_delivery_failed_deployments{environment="prod"} 2`,
		`promoter_delivery_rollbacks{environment="prod"} 1`,
		`promoter_delivery_lead_time_seconds{environment="prod",quantile="0.5"} 5400`, `promoter_delivery_lead_time_seconds{environment="prod",quantile="0.9"} 86400`,
		`promoter_delivery_gate_seconds{environment="prod",gate="staging soak",quantile="0.9"} 7200`,
	)
	for _, unknown := range []string{"promoter_delivery_time_to_restore_seconds{", `gate="approvals"`} {
		if strings.Contains(text, unknown) {
			t.Errorf("%s has a value", unknown)
		}
	}
}

// A slow read is repeated after twenty times as long, and one that fails takes only its metrics.
func TestTargets_readWithinABudget(t *testing.T) {
	t.Parallel()
	var now clock
	now.advance(time.Hour)
	read := 0
	m := telemetry.New(telemetry.Options{
		Work: noWork, Now: now.Now,
		Targets: func(ctx context.Context) ([]store.TargetRow, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the read has no timeout")
			}
			read++
			now.advance(time.Second)
			return nil, errors.New("canary of a database")
		},
	})
	for _, want := range []struct {
		after time.Duration
		reads int
	}{{0, 1}, {19 * time.Second, 1}, {time.Second, 2}} {
		now.advance(want.after)
		if text := page(t, m); read != want.reads || strings.Contains(text, "canary") || !strings.Contains(text, "promoter_build_info") {
			t.Errorf("%d reads, want %d:\n%s", read, want.reads, text)
		}
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	m := telemetry.New(telemetry.Options{Work: noWork, Now: time.Now, Build: telemetry.Build{Version: "1.2.3", Commit: "c0ffee"}})
	holds(t, page(t, m), `promoter_build_info{commit="c0ffee",goversion="`+runtime.Version()+`",version="1.2.3"} 1`)
}
