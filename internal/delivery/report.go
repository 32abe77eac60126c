// Package delivery computes delivery metrics, those of DORA and some more, from what the history
// has about promotions. docs/delivery-metrics.md defines each of them.
//
// A report is a pure function of the stored progress (store.Progress), a query, and the time. For
// each target, course.go follows what happened to it in the order of time, and tally.go counts
// the results of all targets for each group and period.
package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"promoter/internal/store"
)

// Schema is the version of the JSON of a report. It increases with incompatible changes.
const Schema = 1

// Report is the delivery metrics of a time, in total and for groups of targets.
type Report struct {
	Schema   int       `json:"schema"`
	At       time.Time `json:"at"` // by the clock of the service
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	By       Period    `json:"by"`
	Group    string    `json:"group"` // what the groups are
	TimeZone string    `json:"timeZone"`
	Total    Metrics   `json:"total"`
	Series   []Point   `json:"series"`
	Groups   []Group   `json:"groups"`
}

// Group is the metrics of some targets.
type Group struct {
	Name   string  `json:"name"` // empty: those without the label
	Total  Metrics `json:"total"`
	Series []Point `json:"series"`
}

// Point is the metrics of one period. The first and the last may be a part of a week or month.
type Point struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // not included
	Metrics
}

// Metrics are the delivery metrics of some targets in some time.
type Metrics struct {
	Deployments        int      `json:"deployments"`
	DeploymentDays     int      `json:"deploymentDays"` // with at least one
	DeploymentsPerDay  float64  `json:"deploymentsPerDay"`
	Rollbacks          int      `json:"rollbacks"`
	Failed             int      `json:"failed"`                // of the deployments
	FailureRate        *float64 `json:"failureRate,omitempty"` // nil: there was no deployment
	LeadTime           Times    `json:"leadTime"`
	TimeToRestore      Times    `json:"timeToRestore"` // unknown: not restored yet
	EventToPullRequest Times    `json:"eventToPullRequest"`
	OpenPullRequests   Times    `json:"openPullRequests"` // the ages of those that are open at the end
	Gates              []Gate   `json:"gates"`
}

// Gate is how long promotions waited for one condition or gate.
type Gate struct {
	Name string `json:"name"`
	Times
}

// Times summarizes durations.
type Times struct {
	Count   int      `json:"count"`
	Unknown int      `json:"unknown"` // not counted, because an end is not known
	Median  Duration `json:"medianSeconds"`
	P90     Duration `json:"p90Seconds"`
	Max     Duration `json:"maxSeconds"`
}

// Duration is a duration that is seconds in JSON.
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.seconds()) }

func (d Duration) seconds() float64 { return rounded(time.Duration(d).Seconds()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return fmt.Errorf("read a duration: %w", err)
	}
	*d = Duration(math.Round(seconds*1000)) * Duration(time.Millisecond)
	return nil
}

// rounded returns a number with three digits after the point.
func rounded(number float64) float64 { return math.Round(number*1000) / 1000 }

// summarize returns the summary of durations, which it sorts. Percentiles are nearest-rank: each
// is one of the durations.
func summarize(all []time.Duration, unknown int) Times {
	times := Times{Count: len(all), Unknown: unknown}
	if len(all) == 0 {
		return times
	}
	slices.Sort(all)
	rank := func(percent int) Duration { return Duration(all[(len(all)*percent+99)/100-1]) }
	times.Median = rank(50)
	times.P90 = rank(90)
	times.Max = Duration(all[len(all)-1])
	return times
}

// Read returns the report of a query on the stored history.
func Read(ctx context.Context, stored store.Milestones, q Query, now time.Time) (Report, error) {
	if _, err := q.window(now); err != nil {
		return Report{}, err
	}
	progress, err := stored.Progress(ctx, q.TargetFilter, maxEvents)
	if err != nil {
		return Report{}, err
	}
	return Compute(progress, q, now)
}

// Compute returns the report of a query. An error is about the query.
func Compute(p store.Progress, q Query, now time.Time) (Report, error) {
	w, err := q.window(now)
	if err != nil {
		return Report{}, err
	}
	return reportOf(coursesOf(p), p, w), nil
}

// reportOf counts the courses of all targets.
func reportOf(courses map[store.TargetKey]*course, p store.Progress, w window) Report {
	total, groups := newSeries(w), map[string]*series{}
	for key, course := range courses {
		name, selected := w.group(key, p)
		if !selected {
			continue
		}
		if groups[name] == nil {
			groups[name] = newSeries(w)
		}
		course.count(key.Repository, total, groups[name])
	}
	report := Report{
		Schema: Schema, At: w.now.UTC(), Since: w.Since.UTC(), Until: w.Until.UTC(), By: w.By, Group: w.Group,
		TimeZone: w.location.String(),
		Total:    total.all.metrics(), Series: total.points(), Groups: []Group{},
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if one := groups[name]; !one.all.isEmpty() {
			report.Groups = append(report.Groups, Group{Name: name, Total: one.all.metrics(), Series: one.points()})
		}
	}
	return report
}
