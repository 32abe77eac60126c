package delivery

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/store"
)

// Period is how the points of a series are spaced.
type Period string

// The periods, of the calendar. Weeks begin on Monday, as in ISO 8601.
const (
	Week  Period = "week"
	Month Period = "month"
)

// The groups of a report, besides labelGroup with the name of a label.
const (
	ByEnvironment = "environment"
	ByApplication = "application"
	ByRepository  = "repository"
	labelGroup    = "label:"
)

// Query selects what a report is about. Empty fields do not restrict.
type Query struct {
	store.TargetFilter
	Label    string    // KEY, or KEY=VALUE
	Since    time.Time // zero: the beginning of the period that includes Until, and of the eleven before
	Until    time.Time // not included; zero: now
	By       Period    // empty: Week
	Group    string    // environment, application, repository, or label:KEY; empty: environment
	TimeZone string    // an IANA name, for the borders of days and periods; empty: UTC
}

// Limits of a report.
const (
	defaultPeriods = 12
	maxPeriods     = 530     // ten years of weeks
	maxEvents      = 500_000 // of the history, which is read as a whole: some 200 MB
)

// window is a query with all defaults.
type window struct {
	Query
	location *time.Location
	borders  []time.Time // of the periods: the first is Since, the last Until
	now      time.Time
}

// window completes and checks a query.
func (q Query) window(now time.Time) (w window, err error) {
	w = window{Query: q, now: now}
	if w.location, err = time.LoadLocation(q.TimeZone); err != nil || q.TimeZone == "Local" {
		return w, fault.New(fault.Invalid, "timeZone %.50q is not a time zone: write an IANA name such as Europe/Berlin", q.TimeZone)
	}
	w.By = cmp.Or(w.By, Week)
	if w.By != Week && w.By != Month {
		return w, fault.New(fault.Invalid, "by must be week or month")
	}
	w.Group = cmp.Or(w.Group, ByEnvironment)
	if !slices.Contains([]string{ByEnvironment, ByApplication, ByRepository}, w.Group) &&
		(!strings.HasPrefix(w.Group, labelGroup) || w.Group == labelGroup) {
		return w, fault.New(fault.Invalid, "group must be environment, application, repository, or label:KEY")
	}
	if w.Until.IsZero() || w.Until.After(now) {
		w.Until = now
	}
	if w.Since.IsZero() {
		w.Since = w.begin(w.Until.Add(-time.Nanosecond), 1-defaultPeriods)
	}
	if !w.Since.Before(w.Until) {
		return w, fault.New(fault.Invalid, "since must be before until, and before now")
	}
	w.borders = []time.Time{w.Since}
	for next := w.begin(w.Since, 1); next.Before(w.Until); next = w.begin(next, 1) {
		if w.borders = append(w.borders, next); len(w.borders) > maxPeriods {
			return w, fault.New(fault.Invalid, "a report has at most %d periods: choose a later since, or by month", maxPeriods)
		}
	}
	w.borders = append(w.borders, w.Until)
	return w, nil
}

// begin returns when the period began that includes a time, or one of those after or before it.
func (w window) begin(at time.Time, offset int) time.Time {
	year, month, day := at.In(w.location).Date()
	if w.By == Month {
		return time.Date(year, month+time.Month(offset), 1, 0, 0, 0, 0, w.location)
	}
	monday := int(at.In(w.location).Weekday()+6) % 7 // days since Monday
	return time.Date(year, month, day-monday+7*offset, 0, 0, 0, 0, w.location)
}

// period returns the period that includes a time; false: it is outside of the window.
func (w window) period(at time.Time) (int, bool) {
	i, found := slices.BinarySearchFunc(w.borders, at, time.Time.Compare)
	if !found {
		i--
	}
	return i, i >= 0 && i < len(w.borders)-1
}

// group returns the name of the group of a target, and false if the query excludes it.
func (w window) group(key store.TargetKey, p store.Progress) (name string, selected bool) {
	repository, labels := p.Names[key.Repository], p.Targets[key].Labels
	if label, value, exact := strings.Cut(w.Label, "="); label != "" {
		if has, labeled := labels[label]; !labeled || exact && has != value {
			return "", false
		}
	}
	switch w.Group {
	case ByEnvironment:
		return key.Environment, true
	case ByApplication:
		return key.Application, true
	case ByRepository:
		repository = cmp.Or(repository, key.Repository)
		return repository, true
	}
	return labels[strings.TrimPrefix(w.Group, labelGroup)], true
}
