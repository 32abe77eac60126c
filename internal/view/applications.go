package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/promotion"
	"promoter/internal/store"
)

// Status is the state of a target in one word, for users: the one that needs attention most.
type Status string

// The values of Status, what needs attention most first.
const (
	Failed   Status = "failed"     // what landed is not healthy, a file cannot be written, or a registry did not answer
	Stuck    Status = "stuck"      // it cannot land until a user changes something
	Held     Status = "held"       // by a hold or freeze
	Rejected Status = "rejected"   // a newer version was rejected or reverted
	Open     Status = "open"       // a pull request is open
	Waiting  Status = "waiting"    // for a condition or a request
	UpToDate Status = "up to date" // nothing differs
)

// Statuses returns all values of Status, what needs attention most first.
func Statuses() []Status { return []Status{Failed, Stuck, Held, Rejected, Open, Waiting, UpToDate} }

// ApplicationsQuery selects applications. Empty fields do not restrict.
type ApplicationsQuery struct {
	Repository  string // HOST/OWNER/NAME, the end of that, or a key
	Application string // the name
	Environment string // the name; applications that are not in it are left out, and so are other environments
	Status      Status // with at least one target in this status
	Search      string // words; each is a part of the repository, the application, or a version
	After       string // Next of the previous page
	Limit       int    // zero: all
}

// Applications are applications with what is in each of their environments.
type Applications struct {
	Environments []string         `json:"environments"` // of all rows of all pages, parents first
	Applications []ApplicationRow `json:"applications"` // by repository and name
	Total        int              `json:"total"`        // of all pages
	Statuses     map[Status]int   `json:"statuses"`     // targets of all pages by status, whatever status is selected
	Next         string           `json:"next,omitempty"`
}

// ApplicationRow is one application.
type ApplicationRow struct {
	Repository  string      `json:"repository"` // HOST/OWNER/NAME
	Key         string      `json:"key"`        // of the repository; a rename does not change it
	Application string      `json:"application"`
	Targets     []TargetRow `json:"targets"` // in the order of the environments
}

// TargetRow is one environment of an application, in short. Unknown fields are omitted.
type TargetRow struct {
	Environment string       `json:"environment"`
	Status      Status       `json:"status"`
	State       string       `json:"state"`            // of the decision
	Version     string       `json:"version"`          // in the files
	Wanted      string       `json:"wanted,omitempty"` // if another one is wanted
	Landed      time.Time    `json:"landed,omitzero"`  // when the version landed
	Reason      *Reason      `json:"reason,omitempty"`
	Health      string       `json:"health,omitempty"`
	Held        string       `json:"held,omitempty"` // hold or freeze
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
	Drift       int          `json:"drift,omitempty"` // the number of differences
}

// Applications lists applications.
func (v *View) Applications(ctx context.Context, p access.Principal, query ApplicationsQuery) (Applications, error) {
	list := Applications{Environments: []string{}, Applications: []ApplicationRow{}, Statuses: map[Status]int{}}
	names, err := v.repositories(ctx, p, query.Repository)
	if err != nil {
		return list, err
	}
	targets, err := v.Store.Targets.Overview(ctx)
	if err != nil {
		return list, err
	}
	drifts, err := v.driftByTarget(ctx)
	if err != nil {
		return list, err
	}
	rows, order := rowsOf(p, query, names, targets)
	list.Environments = order.sorted()
	for _, row := range rows {
		for i := range row.Targets {
			target := &row.Targets[i]
			key := store.TargetKey{Repository: row.Key, Environment: target.Environment, Application: row.Application}
			target.Drift = len(drifts[key])
			list.Statuses[target.Status]++
		}
	}
	if query.Status != "" {
		rows = slices.DeleteFunc(rows, func(row ApplicationRow) bool {
			return !slices.ContainsFunc(row.Targets, func(t TargetRow) bool { return t.Status == query.Status })
		})
	}
	slices.SortFunc(rows, func(a, b ApplicationRow) int { return slices.Compare(a.names(), b.names()) })
	list.Total = len(rows)
	page, err := PageOf(rows, query.After, query.Limit, len(ApplicationRow{}.names()), ApplicationRow.names)
	list.Applications, list.Next = page.Items, page.Next
	return list, err
}

// rowsOf groups targets by application, without those that a query does not select.
func rowsOf(
	p access.Principal, query ApplicationsQuery, names map[string]string, targets []store.TargetRow,
) ([]ApplicationRow, *environmentOrder) {
	order := &environmentOrder{ranks: map[string]int{}}
	var rows []ApplicationRow
	index := map[[2]string]int{}
	for _, t := range targets {
		name, selected := names[t.Repository]
		if query.Application != "" && t.Application != query.Application {
			continue
		}
		if !selected || query.Environment != "" && t.Environment != query.Environment {
			continue
		}
		if p.Restricted() && !p.MayRead(name, t.Environment, t.Application) {
			continue
		}
		i, known := index[[2]string{t.Repository, t.Application}]
		if !known {
			i = len(rows)
			index[[2]string{t.Repository, t.Application}] = i
			rows = append(rows, ApplicationRow{Repository: name, Key: t.Repository, Application: t.Application})
		}
		rows[i].Targets = append(rows[i].Targets, targetRowOf(t))
		order.add(t.Repository, t.Environment)
	}
	if words := strings.Fields(strings.ToLower(query.Search)); len(words) > 0 {
		rows = slices.DeleteFunc(rows, func(row ApplicationRow) bool { return !row.contains(words) })
	}
	return rows, order
}

func targetRowOf(t store.TargetRow) TargetRow {
	return TargetRow{
		Environment: t.Environment, Status: statusOf(t), State: t.State, Reason: ReasonOf(t.Rule, t.Message, t.Until),
		Version: t.Version, Wanted: t.Wanted, Landed: t.LandedAt, Health: t.Health, Held: t.Held,
		PullRequest: PullRequestOf(t.Number, t.URL, time.Time{}),
	}
}

// statusOf returns the state of a target in one word.
func statusOf(t store.TargetRow) Status {
	state := promotion.State(t.State)
	switch {
	case t.Health == store.HealthFailed, state == promotion.Refused, state == promotion.Unanswered, state == promotion.NotCheckedOut:
		return Failed
	case state == promotion.Stuck:
		return Stuck
	case t.Held != "":
		return Held
	case state == promotion.Rejected, state == promotion.Reverted:
		return Rejected
	case t.Number > 0:
		return Open
	case state == promotion.Waiting, state == promotion.Proposed:
		return Waiting
	}
	return UpToDate
}

// contains reports whether each word, in lower case, is a part of a text of the row.
func (row ApplicationRow) contains(words []string) bool {
	text := strings.ToLower(row.Repository + "\n" + row.Application)
	for _, t := range row.Targets {
		text += "\n" + strings.ToLower(t.Version+"\n"+t.Wanted)
	}
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// names identify a row in a page.
func (row ApplicationRow) names() []string { return []string{row.Repository, row.Application} }

// environmentOrder orders the environments of several repositories: by the largest number of
// environments before them in a repository, then by name.
type environmentOrder struct {
	ranks      map[string]int
	repository string   // the current one
	seen       []string // its environments
}

// add adds an environment. Those of a repository come one after the other, in its order.
func (o *environmentOrder) add(repository, environment string) {
	if repository != o.repository {
		o.repository, o.seen = repository, nil
	}
	if !slices.Contains(o.seen, environment) {
		o.ranks[environment] = max(o.ranks[environment], len(o.seen))
		o.seen = append(o.seen, environment)
	}
}

func (o *environmentOrder) sorted() []string {
	all := slices.AppendSeq([]string{}, maps.Keys(o.ranks))
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(o.ranks[a], o.ranks[b]), cmp.Compare(a, b)) })
	return all
}
