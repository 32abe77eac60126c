package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/database"
)

// Event is one thing that promoter did or observed.
type Event struct {
	ID string // set by the store
	At time.Time
	// Since is when that began which the event ended or caused: the receipt of the webhook that
	// led to an action; of a failure since when it was unhealthy. Zero: not known.
	Since         time.Time
	Repository    string // its key
	Name          string // HOST/OWNER/NAME at that time
	Environment   string
	Application   string
	Action        string
	Promotion     string // ID of the promotion; empty: unknown or none
	Snapshot      string // its ID
	Versions      []EventVersion
	Commit        string
	Number        int    // of the pull request; 0: none
	URL           string // of the pull request
	Rule, Message string // the reason
	User          string // who decided or committed
	Trigger       DeliveryRef
	Attribution   Attribution
}

// Attribution is who requested a promotion, why, and who approved it. Its zero value is
// that nothing is known.
type Attribution struct {
	RequestedBy string   `json:"requestedBy,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Bypassed    []string `json:"bypassed,omitempty"`
	ApprovedBy  []string `json:"approvedBy,omitempty"`
	// Unproven are the parts, "request" and "approval", that only a commit claims which is
	// not proven to be promoter's.
	Unproven []string `json:"unproven,omitempty"`
}

// EventVersion is the version that a component changed to, and the one that it had
// before if that is known.
type EventVersion struct {
	Component  string `json:"component"`
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest,omitempty"`
	FromTag    string `json:"fromTag,omitempty"`
	FromDigest string `json:"fromDigest,omitempty"`
	Revision   string `json:"revision,omitempty"` // commit of the source, as the image claims
	// SourcePullRequests are those that the source commits of the change name, as
	// HOST/OWNER/NAME#NUMBER; empty: none, or not known.
	SourcePullRequests []string `json:"sourcePullRequests,omitempty"`
}

// The actions whose identity is more than their time.
const (
	EventPushed    = "pushed"
	EventMerged    = "merged"
	EventLanded    = "landed" // merged or pushed by anyone, as Git or the forge shows
	EventOpened    = "opened"
	EventRefreshed = "refreshed"
	EventClosed    = "closed"
	EventHealthy   = "healthy"  // a landed snapshot is healthy for the first time, or again after it was not
	EventFailed    = "failed"   // a landed snapshot was unhealthy for the timeout
	EventReverted  = "reverted" // a user went back behind a landed snapshot

	// EventEnded is that a request ended without a promotion, because its versions can no longer come.
	EventEnded = "ended"

	// EventIncident is something that happened in the repository and that promoter handled, such as a state branch that was
	// deleted and is restored.
	EventIncident = "incident"

	// EventAfterLanding is that a request to a GitOps engine after a landing failed.
	EventAfterLanding = "afterLanding"
)

// Identity returns the ID of an event. It is the same when another reconciliation,
// another replica, or a process with an empty database observes the event again. The
// identity of a landing is its commit, whether promoter made it or only observed it; a
// pull request is opened once and refreshed once for each head; a snapshot becomes healthy
// once at a time and is reverted once for each landing; a decision is identified by its
// user and time.
func (e Event) Identity() string {
	what := []string{e.Action, e.User, strconv.FormatInt(database.Micros(e.At), 10), strconv.Itoa(e.Number)}
	switch e.Action {
	case EventPushed, EventMerged, EventLanded:
		what = []string{EventLanded, e.Commit}
	case EventOpened:
		what = []string{e.Action, strconv.Itoa(e.Number)}
	case EventRefreshed, EventClosed:
		what = []string{e.Action, strconv.Itoa(e.Number), e.Commit}
	case EventIncident:
		what = append(what, e.Message)
	case EventReverted:
		what = []string{e.Action, e.Commit}
	case EventHealthy, EventFailed:
		what = []string{e.Action, e.Snapshot, strconv.FormatInt(database.Micros(e.At), 10)}
	}
	name := append([]string{e.Repository, e.Environment, e.Application}, what...)
	sum := sha256.Sum256([]byte(strings.Join(name, "\n")))
	return hex.EncodeToString(sum[:12])
}

// eventsPerStatement limits the events that one statement writes.
const eventsPerStatement = 500

// AddEvents adds events to the history, and returns those that it did not contain. The others
// are not changed.
func (s *Store) AddEvents(ctx context.Context, tx *database.Tx, events []Event) (added []Event, err error) {
	for some := range slices.Chunk(events, eventsPerStatement) {
		ids, err := addSomeEvents(ctx, tx, some)
		if err != nil {
			return nil, err
		}
		for _, e := range some {
			if id := e.Identity(); ids[id] {
				delete(ids, id) // several may have it
				added = append(added, e)
			}
		}
	}
	return added, nil
}

// addSomeEvents returns the identities of the events that it added.
func addSomeEvents(ctx context.Context, tx *database.Tx, events []Event) (added map[string]bool, err error) {
	rows := make([]map[string]any, 0, len(events))
	for _, e := range events {
		versions, err := json.Marshal(e.Versions)
		if err != nil {
			return nil, fmt.Errorf("write the history of %s: %w", e.Name, err)
		}
		attribution, err := json.Marshal(e.Attribution)
		if err != nil {
			return nil, fmt.Errorf("write the history of %s: %w", e.Name, err)
		}
		components := " "
		for _, version := range e.Versions {
			components += version.Component + " "
		}
		rows = append(rows, map[string]any{
			"id": e.Identity(), "at": database.Micros(e.At), "repository": storable(e.Repository),
			"name":        storable(strings.ToLower(e.Name)),
			"environment": storable(e.Environment), "application": storable(e.Application), "action": e.Action,
			"promotion": storable(e.Promotion), "snapshot": storable(e.Snapshot), "versions": storable(string(versions)),
			"components": storable(components), "commit": storable(e.Commit), "number": e.Number, "url": truncated(e.URL),
			"rule": storable(e.Rule), "message": truncated(e.Message), "user": truncated(e.User),
			"receiver": storable(e.Trigger.Receiver), "delivery": storable(e.Trigger.Delivery),
			"attribution": storable(string(attribution)), "since": database.Micros(e.Since),
		})
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("write the history: %w", err)
	}
	added = map[string]bool{}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var id string
		err := scan(&id)
		added[id] = true
		return err
	}, `
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components,
	commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at, notified)
select value->>'id', cast(value->>'at' as bigint), value->>'repository', value->>'name', value->>'environment',
	value->>'application', value->>'action', value->>'promotion', value->>'snapshot', value->>'versions', value->>'components',
	value->>'commit', cast(value->>'number' as bigint), value->>'url', value->>'rule', value->>'message', value->>'user',
	value->>'receiver', value->>'delivery', value->>'attribution', cast(value->>'since' as bigint), 0
from @elements(?) where true
on conflict (id) do nothing returning id`, string(text))
	if err != nil {
		return nil, err
	}
	return added, addLanded(ctx, tx, string(text))
}

// Heads returns the commits up to which the history of a repository's branches was read.
func (s *Store) Heads(ctx context.Context, repository string) (map[string]string, error) {
	return viewPairs[string, string](ctx, s.db, "select branch, commit_id from history_head where repository = ?", repository)
}

// DeleteHistoryBefore deletes the events before a time, and returns their number.
func (s *Store) DeleteHistoryBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	return aged{"history", "id", "at"}.deleteBefore(ctx, s.db, before)
}

// HistoryFilter selects events. Empty fields do not restrict.
type HistoryFilter struct {
	Repository  string // its key, its name, or its HOST/NAME
	Key         string // of the repository, under all its names
	Environment string
	Application string
	Component   string
	Since       time.Time
	Landings    bool // only events by which a snapshot landed
	Readable    Readable
	// Before is the position of the last event of the previous page.
	Before Cursor
	Limit  int
}

// Readable reports whether what is about a target of a repository, HOST/OWNER/NAME, may be shown; an
// empty environment or application is any. Queries apply it before their limit, so that what is hidden
// changes neither the number of rows nor the position of the last one. nil: everything may be shown.
type Readable func(repository, environment, application string) bool

// Cursor is the position of an event in the history.
type Cursor struct {
	At time.Time
	ID string
}

// History lists events, newest first.
func (s *Store) History(ctx context.Context, f HistoryFilter) (all []Event, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		query, args := f.selectByTime()
		if f.Readable != nil || f.Repository != "" || f.Key != "" || f.Environment != "" || f.Application != "" {
			targets, err := f.targets(ctx, tx)
			switch {
			case err != nil || len(targets) == 0:
				return err
			case len(targets) <= maxTargets:
				query, args = f.selectByTarget(targets)
			case f.Readable != nil:
				if query, args, err = f.selectAmong(targets); err != nil {
					return err
				}
			}
		}
		all, err = readRows(ctx, tx, scanEvent, query, args...)
		return err
	})
	return all, err
}

// selectEvents adds the pull request to landings that promoter only observed: the last
// one of the same snapshot.
const selectEvents = `
select id, at, repository, name, environment, application, action, promotion, snapshot, versions, commit_id, number,
	case when number = 0 and action = 'landed' then coalesce((
		select cast(other.number as text) || ' ' || other.url from history as other
		where other.repository = event.repository and other.environment = event.environment and other.application = event.application
			and other.snapshot = event.snapshot and other.action in ('opened', 'refreshed')
		order by other.at desc limit 1), '') else url end,
	rule, message, username, receiver, delivery, attribution, since_at
from history as event`

func scanEvent(scan database.Scan, e *Event) error {
	var versions, attribution string
	columns := []any{
		&e.ID, &e.At, &e.Repository, &e.Name, &e.Environment, &e.Application, &e.Action, &e.Promotion, &e.Snapshot,
		&versions, &e.Commit, &e.Number, &e.URL, &e.Rule, &e.Message, &e.User,
		&e.Trigger.Receiver, &e.Trigger.Delivery, &attribution, &e.Since,
	}
	if err := scan(columns...); err != nil {
		return err
	}
	if number, url, joined := strings.Cut(e.URL, " "); joined && e.Number == 0 {
		e.Number, _ = strconv.Atoi(number) // written by selectEvents
		e.URL = url
	}
	if err := json.Unmarshal([]byte(versions), &e.Versions); err != nil {
		return fmt.Errorf("read the versions of event %s: %w", e.ID, err)
	}
	if attribution == "" { // written by an earlier release
		return nil
	}
	if err := json.Unmarshal([]byte(attribution), &e.Attribution); err != nil {
		return fmt.Errorf("read the attribution of event %s: %w", e.ID, err)
	}
	return nil
}

// ofRepository, ofTarget, and inTime are conditions; their arguments are in this order those of
// repositoryArgs, targetArgs, and timeArgs.
const (
	ofRepository = `(? = '' or lower(repository) = ? or name = ? or name like ? escape '!') and (? = '' or repository = ?)`
	ofTarget     = `(? = '' or environment = ?) and (? = '' or application = ?)`
	inTime       = `(? = '' or components like ? escape '!') and at >= ? and at <= ? and (? = '' or at < ? or (at = ? and id < ?))
	and (? = '' or action in ('landed', 'merged', 'pushed'))`
)

func (f HistoryFilter) repositoryArgs() []any {
	repository := storable(strings.ToLower(f.Repository))
	return []any{repository, repository, repository, "%/" + escapeLike(repository), f.Key, f.Key}
}

func (f HistoryFilter) targetArgs() []any {
	environment := storable(f.Environment)
	application := storable(f.Application)
	return []any{environment, environment, application, application}
}

func (f HistoryFilter) timeArgs() []any {
	component := ""
	if f.Component != "" {
		component = "% " + escapeLike(storable(f.Component)) + " %"
	}
	landings := ""
	if f.Landings {
		landings = EventLanded
	}
	before, newest := storable(f.Before.ID), int64(math.MaxInt64)
	if before != "" {
		newest = database.Micros(f.Before.At)
	}
	return []any{component, component, f.Since, newest, before, f.Before.At, f.Before.At, before, landings}
}

// escapeLike escapes text for a "like" with the escape character "!".
func escapeLike(text string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text)
}

// selectByTime reads events in the order of time until enough match.
func (f HistoryFilter) selectByTime() (query string, args []any) {
	const matches = "\nwhere " + ofRepository + " and " + ofTarget + " and " + inTime
	args = slices.Concat(f.repositoryArgs(), f.targetArgs(), f.timeArgs())
	return selectEvents + matches + "\norder by at desc, id desc limit ?", append(args, f.Limit)
}

// target is an application in an environment of a repository, under its name at that
// time.
type target struct {
	Repository  string `json:"r"` // its key
	Name        string `json:"n"` // HOST/OWNER/NAME
	Environment string `json:"e"`
	Application string `json:"a"`
}

// maxTargets limits the targets whose events are read one by one. With more, enough of
// the newest events match, so they are read by time.
const maxTargets = 50

// selectNames walks the index history_target from one repository to the next, and from one of its names
// to the next, however many events each has. Each step is a subquery of one column: to compare rows,
// SQLite would read all events that are equal in the first column, and to join the steps with the table,
// PostgreSQL would read all of it in each of them.
const selectNames = `
with recursive repositories (repository) as (
	select min(repository) from history
	union all
	select (select min(next.repository) from history as next where next.repository > one.repository)
	from repositories as one where one.repository is not null
), names (repository, name) as (
	select repository, (select min(next.name) from history as next where next.repository = one.repository)
	from repositories as one where repository is not null
	union all
	select repository, (select min(next.name) from history as next where next.repository = one.repository and next.name > one.name)
	from names as one where one.name is not null
)
select repository, name from names where name is not null and ` + ofRepository

// selectTargets walks the same index from one environment of some repositories to the next, and from one
// of its applications to the next.
const selectTargets = `
with recursive environments (repository, name, environment) as (
	select value->>'r', value->>'n', (
		select min(next.environment) from history as next where next.repository = value->>'r' and next.name = value->>'n')
	from @elements(?)
	union all
	select repository, name, (
		select min(next.environment) from history as next
		where next.repository = one.repository and next.name = one.name and next.environment > one.environment)
	from environments as one where one.environment is not null
), targets (repository, name, environment, application) as (
	select repository, name, environment, (
		select min(next.application) from history as next
		where next.repository = one.repository and next.name = one.name and next.environment = one.environment)
	from environments as one where environment is not null and (? = '' or environment = ?)
	union all
	select repository, name, environment, (
		select min(next.application) from history as next
		where next.repository = one.repository and next.name = one.name and next.environment = one.environment
			and next.application > one.application)
	from targets as one where one.application is not null
)
select repository, name, environment, application from targets where application is not null and (? = '' or application = ?) limit ?`

// targets returns the targets of the filter: all that are readable or, without that restriction,
// one more than maxTargets at most.
func (f HistoryFilter) targets(ctx context.Context, tx *database.Tx) ([]target, error) {
	names, err := readRows(ctx, tx, func(scan database.Scan, one *target) error {
		return scan(&one.Repository, &one.Name)
	}, selectNames, f.repositoryArgs()...)
	if err != nil {
		return nil, err
	}
	readable, limit := f.Readable, int64(math.MaxInt64)
	if readable == nil {
		readable, limit = func(string, string, string) bool { return true }, maxTargets+1
	}
	names = slices.DeleteFunc(names, func(one target) bool { return !readable(one.Name, "", "") })
	if len(names) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	all, err := readRows(ctx, tx, func(scan database.Scan, one *target) error {
		return scan(&one.Repository, &one.Name, &one.Environment, &one.Application)
	}, selectTargets, slices.Concat([]any{string(text)}, f.targetArgs(), []any{limit})...)
	return slices.DeleteFunc(all, func(one target) bool { return !readable(one.Name, one.Environment, one.Application) }), err
}

// selectAmong reads the events of many targets in the order of time until enough match. The comparison
// with true keeps that order: otherwise SQLite reads and sorts all events of the targets, and PostgreSQL
// compares each event with each of them.
func (f HistoryFilter) selectAmong(targets []target) (query string, args []any, err error) {
	text, err := json.Marshal(targets)
	if err != nil {
		return "", nil, fmt.Errorf("read the history: %w", err)
	}
	return selectEvents + `
where ((repository, name, environment, application) in (
	select value->>'r', value->>'n', value->>'e', value->>'a' from @elements(?))) is true and ` + inTime + `
order by at desc, id desc limit ?`, append(append([]any{string(text)}, f.timeArgs()...), f.Limit), nil
}

// selectByTarget reads the newest events of each target, and selects the newest of them.
func (f HistoryFilter) selectByTarget(targets []target) (query string, args []any) {
	const events = `select * from (select id, at from history
	where repository = ? and name = ? and environment = ? and application = ? and ` + inTime + `
	order by at desc, id desc limit ?) as one`
	parts := make([]string, 0, len(targets))
	for _, one := range targets {
		parts = append(parts, events)
		args = append(args, one.Repository, one.Name, one.Environment, one.Application)
		args = append(append(args, f.timeArgs()...), f.Limit)
	}
	return selectEvents + `
where id in (select id from (` + strings.Join(parts, "\nunion all\n") + `) as these order by at desc, id desc limit ?)
order by at desc, id desc`, append(args, f.Limit)
}

// IsLanding reports whether the event is one of those by which a snapshot lands.
func (e Event) IsLanding() bool {
	return e.Action == EventLanded || e.Action == EventMerged || e.Action == EventPushed
}
