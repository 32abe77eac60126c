package delivery

import (
	"context"
	"time"

	"promoter/internal/store"
)

// The results of promotions.
const (
	ResultDeployed = "deployed"
	ResultFailed   = "failed"   // a deployment, for the first time
	ResultRollback = "rollback" // what was there before landed again
	ResultClosed   = "closed"   // a pull request, without a landing
)

// The time of Recent, and how much of the history it reads: with less, what lands again after
// a longer time is a deployment.
const (
	recentTime = 30 * 24 * time.Hour
	recentRead = 3 * recentTime
)

// Recent is the recent delivery metrics of one environment.
type Recent struct {
	Environment string
	Metrics     // of the last 30 days
	// Results are how many promotions had which result from a time on, and LeadTimes are the lead
	// times that ended since then.
	Results   map[string]int
	LeadTimes []time.Duration
}

// ReadRecent returns the recent delivery metrics of each environment, and the results from a time
// on, which never decrease as long as that time stays the same. What it reads does not grow with the
// age of the history.
func ReadRecent(ctx context.Context, stored store.Milestones, since, now time.Time) ([]Recent, error) {
	from := now.Add(-recentRead)
	if since.Before(from) {
		from = since
	}
	progress, err := stored.ProgressSince(ctx, from, maxEvents)
	if err != nil {
		return nil, err
	}
	return ComputeRecent(progress, since, now)
}

// ComputeRecent returns the recent delivery metrics of each environment.
func ComputeRecent(p store.Progress, since, now time.Time) ([]Recent, error) {
	w, err := Query{Since: now.Add(-recentTime)}.window(now)
	if err != nil {
		return nil, err
	}
	courses := coursesOf(p)
	report := reportOf(courses, p, w)
	all := make([]Recent, 0, len(report.Groups))
	index := map[string]int{}
	for _, group := range report.Groups {
		index[group.Name] = len(all)
		all = append(all, Recent{Environment: group.Name, Metrics: group.Total, Results: map[string]int{}})
	}
	for key, course := range courses {
		i, found := index[key.Environment]
		if !found { // nothing happened in the last 30 days
			i = len(all)
			index[key.Environment] = i
			all = append(all, Recent{Environment: key.Environment, Results: map[string]int{}})
		}
		all[i].add(course, since)
	}
	return all, nil
}

// add adds what happened to a target from a time on.
func (r *Recent) add(c *course, since time.Time) {
	count := func(result string, at time.Time) {
		if !at.Before(since) {
			r.Results[result]++
		}
	}
	for _, d := range c.deployments {
		count(ResultDeployed, d.landed)
		count(ResultFailed, d.failed) // the zero time is before any other
		if took, ended, known := c.leadTime(d); known && !ended.Before(since) {
			r.LeadTimes = append(r.LeadTimes, took)
		}
	}
	for _, at := range c.rollbacks {
		count(ResultRollback, at)
	}
	for _, one := range c.pulls {
		if !one.landed {
			count(ResultClosed, one.closed)
		}
	}
}
