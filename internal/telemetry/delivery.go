package telemetry

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"promoter/internal/delivery"
)

// maxGates is the number of conditions and gates that have a label. Config files name them.
const maxGates = 20

// days are buckets for lead times, in seconds: from ten minutes to a quarter of a year.
func days() []float64 {
	const hour, day = 3600, 24 * 3600
	return []float64{600, 1800, hour, 2 * hour, 4 * hour, 8 * hour, day, 2 * day, 4 * day, 7 * day, 14 * day, 30 * day, 90 * day}
}

// deliveries are the delivery metrics.
type deliveries struct {
	results, leadTimes                                    *prometheus.Desc
	deployments, failed, rollbacks                        *prometheus.Desc
	leadTime, timeToRestore, eventToPullRequest, gateTime *prometheus.Desc
}

func newDeliveries(list func(context.Context) ([]delivery.Recent, error), now func() time.Time) prometheus.Collector {
	d := deliveries{
		results:       desc("promotions_total", "Promotions by result, since the service started.", "environment", "result"),
		leadTimes:     desc("lead_time_seconds", "Lead times of the deployments since the service started.", "environment"),
		deployments:   desc("delivery_deployments", "Deployments of the last 30 days.", "environment"),
		failed:        desc("delivery_failed_deployments", "Deployments of the last 30 days that failed.", "environment"),
		rollbacks:     desc("delivery_rollbacks", "Rollbacks of the last 30 days.", "environment"),
		leadTime:      desc("delivery_lead_time_seconds", "Lead time of the last 30 days.", "environment", "quantile"),
		timeToRestore: desc("delivery_time_to_restore_seconds", "Time to restore of the last 30 days.", "environment", "quantile"),
		eventToPullRequest: desc("delivery_event_to_pull_request_seconds",
			"Time from an event to its pull request, of the last 30 days.", "environment", "quantile"),
		gateTime: desc("delivery_gate_seconds", "How long promotions waited for a condition or gate, of the last 30 days.",
			"environment", "gate", "quantile"),
	}
	return listed[delivery.Recent]{&cached[[]delivery.Recent]{read: list, now: now}, d.collect}
}

// collect sends the metrics. Quantiles of several environments cannot be joined, so that those
// without a label of their own have none.
func (d deliveries) collect(to chan<- prometheus.Metric, all []delivery.Recent) {
	weights := map[string]int{}
	for _, one := range all {
		weights[one.Environment] = one.Deployments
	}
	labels, gates := labelsOf(weights), gateLabels(all)
	results, leadTimes := map[[2]string]int{}, map[string][]time.Duration{}
	for _, one := range all {
		label := labels[one.Environment]
		for result, count := range one.Results {
			results[[2]string{label, result}] += count
		}
		leadTimes[label] = append(leadTimes[label], one.LeadTimes...)
		if label == one.Environment {
			d.collectRecent(to, one, gates)
		}
	}
	for by, count := range results {
		to <- prometheus.MustNewConstMetric(d.results, prometheus.CounterValue, float64(count), by[0], by[1])
	}
	for label, times := range leadTimes {
		to <- histogramOf(d.leadTimes, times, label)
	}
}

// collectRecent sends the metrics of the last days.
func (d deliveries) collectRecent(to chan<- prometheus.Metric, one delivery.Recent, gates map[string]bool) {
	to <- gaugeOf(d.deployments, float64(one.Deployments), one.Environment)
	to <- gaugeOf(d.failed, float64(one.Failed), one.Environment)
	to <- gaugeOf(d.rollbacks, float64(one.Rollbacks), one.Environment)
	quantiles := func(desc *prometheus.Desc, of delivery.Times, labels ...string) {
		if of.Count > 0 {
			median, p90 := time.Duration(of.Median), time.Duration(of.P90)
			to <- gaugeOf(desc, median.Seconds(), append(labels, "0.5")...)
			to <- gaugeOf(desc, p90.Seconds(), append(labels, "0.9")...)
		}
	}
	quantiles(d.leadTime, one.LeadTime, one.Environment)
	quantiles(d.timeToRestore, one.TimeToRestore, one.Environment)
	quantiles(d.eventToPullRequest, one.EventToPullRequest, one.Environment)
	for _, gate := range one.Gates {
		if gates[gate.Name] {
			quantiles(d.gateTime, gate.Times, one.Environment, gate.Name)
		}
	}
}

// gateLabels returns the conditions and gates with a label: those that were waited for most often.
func gateLabels(all []delivery.Recent) map[string]bool {
	count := map[string]int{}
	for _, one := range all {
		for _, gate := range one.Gates {
			count[gate.Name] += gate.Count
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	labels := map[string]bool{}
	for _, name := range names[:min(len(names), maxGates)] {
		labels[name] = true
	}
	return labels
}

// histogramOf returns durations as a histogram.
func histogramOf(desc *prometheus.Desc, times []time.Duration, labels ...string) prometheus.Metric {
	buckets, sum := map[float64]uint64{}, 0.0
	for _, limit := range days() {
		buckets[limit] = 0
	}
	for _, took := range times {
		sum += took.Seconds()
		for limit := range buckets {
			if took.Seconds() <= limit {
				buckets[limit]++
			}
		}
	}
	return prometheus.MustNewConstHistogram(desc, uint64(len(times)), sum, buckets, labels...)
}
