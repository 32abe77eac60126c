package delivery

import (
	"maps"
	"slices"
	"time"
)

// series counts for a window, and for each of its periods.
type series struct {
	window
	all     *tally
	periods []*tally
}

func newSeries(w window) *series {
	s := &series{window: w, all: newTally(w.Since, w.Until, w.location)}
	for i := range len(w.borders) - 1 {
		s.periods = append(s.periods, newTally(w.borders[i], w.borders[i+1], w.location))
	}
	return s
}

// at counts at a time, if it is in the window.
func (s *series) at(at time.Time, count func(*tally)) {
	if i, within := s.period(at); within {
		count(s.all)
		count(s.periods[i])
	}
}

func (s *series) points() []Point {
	points := make([]Point, len(s.periods))
	for i, one := range s.periods {
		points[i] = Point{From: one.from.UTC(), To: one.to.UTC(), Metrics: one.metrics()}
	}
	return points
}

// tally counts one time of one group.
type tally struct {
	from, to    time.Time
	location    *time.Location
	deployments int
	days        map[[2]int]bool // year and day of the year
	rollbacks   int
	failed      int
	lead        durations
	restored    durations
	gates       map[string]*durations
	reactions   durations
	reacted     map[pullKey]bool // pull requests whose reaction is counted
	open        map[pullKey]time.Time
	lost        map[pullKey]bool
}

// pullKey identifies a pull request, which may be for several targets.
type pullKey struct {
	repository string
	number     int
}

// durations are durations and how many are not known.
type durations struct {
	known   []time.Duration
	unknown int
}

func (d *durations) add(took time.Duration, known bool) {
	if known {
		d.known = append(d.known, took)
	} else {
		d.unknown++
	}
}

func newTally(from, to time.Time, location *time.Location) *tally {
	return &tally{
		from: from, to: to, location: location, days: map[[2]int]bool{}, gates: map[string]*durations{},
		reacted: map[pullKey]bool{}, open: map[pullKey]time.Time{}, lost: map[pullKey]bool{},
	}
}

// count counts the course of a target of a repository.
func (c *course) count(repository string, into ...*series) {
	for _, s := range into {
		for _, d := range c.deployments {
			c.countDeployment(d, s)
		}
		for _, at := range c.rollbacks {
			s.at(at, func(t *tally) { t.rollbacks++ })
		}
		for _, one := range c.gates {
			if at, passed := one.ended, !one.ended.IsZero(); passed {
				s.at(at, func(t *tally) { t.gate(one.name).add(at.Sub(one.began), true) })
			} else {
				s.at(one.began, func(t *tally) { t.gate(one.name).add(0, false) })
			}
		}
		for _, one := range c.reactions {
			s.at(one.at, func(t *tally) { t.react(pullKey{repository, one.number}, one) })
		}
		for _, one := range c.pulls {
			key := pullKey{repository, one.number}
			if one.lost {
				s.at(one.opened, func(t *tally) { t.lost[key] = true })
				continue
			}
			for _, t := range append([]*tally{s.all}, s.periods...) {
				if one.opened.Before(t.to) && (one.closed.IsZero() || !one.closed.Before(t.to)) {
					t.open[key] = one.opened
				}
			}
		}
	}
}

func (c *course) countDeployment(d *deployment, s *series) {
	s.at(d.landed, func(t *tally) {
		t.deployments++
		day := d.landed.In(t.location)
		t.days[[2]int{day.Year(), day.YearDay()}] = true
		if !d.failed.IsZero() {
			t.failed++
		}
	})
	took, ended, known := c.leadTime(d)
	s.at(ended, func(t *tally) { t.lead.add(took, known) })
	switch {
	case !d.restored.IsZero():
		s.at(d.restored, func(t *tally) { t.restored.add(max(d.restored.Sub(d.broken), 0), true) })
	case !d.failed.IsZero():
		s.at(d.failed, func(t *tally) { t.restored.add(0, false) })
	}
}

func (t *tally) gate(name string) *durations {
	if t.gates[name] == nil {
		t.gates[name] = &durations{}
	}
	return t.gates[name]
}

// react counts a reaction, that of a pull request for several targets once.
func (t *tally) react(key pullKey, r reaction) {
	if r.number > 0 && t.reacted[key] {
		return
	}
	t.reacted[key] = true
	t.reactions.add(max(r.at.Sub(r.received), 0), !r.received.IsZero())
}

func (t *tally) isEmpty() bool {
	events := t.deployments + t.rollbacks + t.reactions.unknown
	times := len(t.lead.known) + len(t.restored.known) + len(t.reactions.known)
	return events+times+len(t.gates)+len(t.open)+len(t.lost) == 0
}

func (t *tally) metrics() Metrics {
	ages := make([]time.Duration, 0, len(t.open))
	for _, opened := range t.open {
		ages = append(ages, t.to.Sub(opened))
	}
	m := Metrics{
		Deployments: t.deployments, DeploymentDays: len(t.days), Rollbacks: t.rollbacks, Failed: t.failed,
		DeploymentsPerDay: rounded(float64(t.deployments) / (t.to.Sub(t.from).Hours() / 24)),
		LeadTime:          summarize(t.lead.known, t.lead.unknown), TimeToRestore: summarize(t.restored.known, t.restored.unknown),
		EventToPullRequest: summarize(t.reactions.known, t.reactions.unknown), OpenPullRequests: summarize(ages, len(t.lost)),
		Gates: []Gate{},
	}
	if t.deployments > 0 {
		rate := rounded(float64(t.failed) / float64(t.deployments))
		m.FailureRate = &rate
	}
	for _, name := range slices.Sorted(maps.Keys(t.gates)) {
		m.Gates = append(m.Gates, Gate{Name: name, Times: summarize(t.gates[name].known, t.gates[name].unknown)})
	}
	return m
}
