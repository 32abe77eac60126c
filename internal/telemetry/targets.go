package telemetry

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"promoter/internal/promotion"
	"promoter/internal/store"
)

// maxEnvironments is the number of environments that have a label. Config files name environments,
// so their number must be limited.
const maxEnvironments = 50

// otherEnvironments replaces all environments without a label. No environment can have this name.
const otherEnvironments = "(other)"

// labelsOf returns the labels of environments with weights: those with the largest weights have
// one of their own. It is the same in all replicas.
func labelsOf(weights map[string]int) map[string]string {
	names := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	labels := make(map[string]string, len(names))
	for i, name := range names {
		if labels[name] = name; i >= maxEnvironments {
			labels[name] = otherEnvironments
		}
	}
	return labels
}

// targets are the metrics of the last reconciliations. States and healths are closed sets.
type targets struct {
	now func() time.Time

	states, healths, oldestOpen, oldestWaiting *prometheus.Desc
}

func newTargets(list func(context.Context) ([]store.TargetRow, error), now func() time.Time) prometheus.Collector {
	t := targets{
		now:        now,
		states:     desc("targets", "Targets by state of the last reconciliation.", "environment", "state"),
		healths:    desc("health_targets", "Targets by reported health of what landed.", "environment", "status"),
		oldestOpen: desc("oldest_open_pull_request_seconds", "Age of the oldest open pull request.", "environment"),
		oldestWaiting: desc("oldest_waiting_seconds",
			"How long a target has been waiting or stuck for the same reason, of the longest.", "environment"),
	}
	return listed[store.TargetRow]{&cached[[]store.TargetRow]{read: list, now: now}, t.collect}
}

func (t targets) collect(to chan<- prometheus.Metric, all []store.TargetRow) {
	number := map[string]int{}
	for _, one := range all {
		number[one.Environment]++
	}
	labels, now := labelsOf(number), t.now()
	states, healths := map[[2]string]int{}, map[[2]string]int{}
	open, waiting := map[string]time.Duration{}, map[string]time.Duration{}
	for _, one := range all {
		label := labels[one.Environment]
		states[[2]string{label, one.State}]++
		if one.Health != "" {
			healths[[2]string{label, one.Health}]++
		}
		open[label] = max(open[label], since(one.Opened, now))
		waiting[label] = max(waiting[label], 0)
		if one.State == string(promotion.Waiting) || one.State == string(promotion.Stuck) {
			waiting[label] = max(waiting[label], since(one.Since, now))
		}
	}
	for by, count := range states {
		to <- gaugeOf(t.states, float64(count), by[0], by[1])
	}
	for by, count := range healths {
		to <- gaugeOf(t.healths, float64(count), by[0], by[1])
	}
	for label := range open {
		to <- gaugeOf(t.oldestOpen, open[label].Seconds(), label)
		to <- gaugeOf(t.oldestWaiting, waiting[label].Seconds(), label)
	}
}

// since returns the time since another one; zero if that is not known.
func since(at, now time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(now.Sub(at), 0)
}
