package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/database"
)

// HistoryUpdate is what a look learnt for the history.
type HistoryUpdate struct {
	Events []Event
	// Heads are the commits up to which the history of branches was read.
	Heads map[string]string
}

// eventsAtOnce is how many events one statement writes.
const eventsAtOnce = 500

// addEvents leaves alone what is there.
const addEvents = `
insert into history (id, at, repository, name, environment, application, act, promotion, snapshot, versions, components,
	commit_id, number, url, rule, words, person, receiver, delivery)
select value->>'id', cast(value->>'at' as bigint), value->>'repository', value->>'name', value->>'environment',
	value->>'application', value->>'act', value->>'promotion', value->>'snapshot', value->>'versions', value->>'components',
	value->>'commit', cast(value->>'number' as bigint), value->>'url', value->>'rule', value->>'words', value->>'person',
	value->>'receiver', value->>'delivery'
from @elements(?) where true
on conflict (id) do nothing`

// row of addEvents.
type eventRow struct {
	ID          string `json:"id"`
	At          int64  `json:"at"`
	Repository  string `json:"repository"`
	Name        string `json:"name"`
	Environment string `json:"environment"`
	Application string `json:"application"`
	Act         string `json:"act"`
	Promotion   string `json:"promotion"`
	Snapshot    string `json:"snapshot"`
	Versions    string `json:"versions"`
	Components  string `json:"components"`
	Commit      string `json:"commit"`
	Number      int    `json:"number"`
	URL         string `json:"url"`
	Rule        string `json:"rule"`
	Words       string `json:"words"`
	Person      string `json:"person"`
	Receiver    string `json:"receiver"`
	Delivery    string `json:"delivery"`
}

func (e Event) row() (eventRow, error) {
	versions, err := json.Marshal(e.Versions)
	if err != nil {
		return eventRow{}, fmt.Errorf("write the history of %s: %w", e.Name, err)
	}
	components := " "
	for _, version := range e.Versions {
		components += version.Component + " "
	}
	return eventRow{
		ID: e.Identity(), At: database.Micros(e.At), Repository: plain(e.Repository), Name: plain(strings.ToLower(e.Name)),
		Environment: plain(e.Environment), Application: plain(e.Application), Act: e.Action, Promotion: plain(e.Promotion),
		Snapshot: plain(e.Snapshot), Versions: plain(string(versions)), Components: plain(components), Commit: plain(e.Commit),
		Number: e.Number, URL: short(e.URL), Rule: plain(e.Rule), Words: short(e.Message), Person: short(e.User),
		Receiver: plain(e.Trigger.Receiver), Delivery: plain(e.Trigger.Delivery),
	}, nil
}

// plain is text that both databases keep: PostgreSQL has no NUL and only UTF-8. People
// and commits may say anything.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// maxText bounds what people and commits say of an event, in bytes.
const maxText = 4 << 10

// short is plain text up to its bound, and no part of a letter.
func short(text string) string {
	text = plain(text)
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// RecordReconciliation keeps how a look ended: what is known of the lane, and what the look learnt for
// the history.
func (s *Store) RecordReconciliation(ctx context.Context, tx *database.Tx, l Repository, past HistoryUpdate) error {
	if err := setLane(ctx, tx, l); err != nil {
		return err
	}
	for from := 0; from < len(past.Events); from += eventsAtOnce {
		if err := addTo(ctx, tx, past.Events[from:min(from+eventsAtOnce, len(past.Events))]); err != nil {
			return err
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(past.Heads)) {
		if _, err := tx.Exec(ctx, `
insert into history_head (repository, branch, commit_id) values (?, ?, ?)
on conflict (repository, branch) do update set commit_id = excluded.commit_id`, l.Key, plain(branch), past.Heads[branch]); err != nil {
			return err
		}
	}
	return nil
}

func addTo(ctx context.Context, tx *database.Tx, events []Event) error {
	rows := make([]eventRow, 0, len(events))
	for _, e := range events {
		row, err := e.row()
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	_, err = tx.Exec(ctx, addEvents, string(text))
	return err
}

// Heads returns the commits up to which the history of a repository's branches was read.
func (s *Store) Heads(ctx context.Context, repository string) (map[string]string, error) {
	heads := map[string]string{}
	err := s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var branch, commit string
			if err := scan(&branch, &commit); err != nil {
				return err
			}
			heads[branch] = commit
			return nil
		}, "select branch, commit_id from history_head where repository = ?", repository)
	})
	return heads, err
}

// HistoryFilter narrows a part of the history. What is empty narrows nothing.
type HistoryFilter struct {
	Repository  string // its key, its name, or its HOST/NAME
	Environment string
	Application string
	Component   string
	Since       time.Time
	// Before is the place of the last event that was shown; events come newest first.
	Before Cursor
	Limit  int
}

// Cursor is the place of an event in the history.
type Cursor struct {
	At time.Time
	ID string
}

// History lists events, newest first.
func (s *Store) History(ctx context.Context, w HistoryFilter) (all []Event, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		targets, few, err := w.places(ctx, tx)
		if err != nil || few && len(targets) == 0 {
			return err
		}
		query, args := w.selectByTime()
		if few {
			query, args = w.selectFrom(targets)
		}
		return tx.Query(ctx, func(scan database.Scan) error {
			e, err := readEvent(scan)
			all = append(all, e)
			return err
		}, query, args...)
	})
	return all, err
}

// selectEvents gives a landing that promoter only saw the pull request that was last
// written for its snapshot.
const selectEvents = `
select id, at, repository, name, environment, application, act, promotion, snapshot, versions, commit_id, number,
	case when number = 0 and act = 'landed' then coalesce((
		select cast(other.number as text) || ' ' || other.url from history as other
		where other.repository = event.repository and other.environment = event.environment and other.application = event.application
			and other.snapshot = event.snapshot and other.act in ('opened', 'refreshed')
		order by other.at desc limit 1), '') else url end,
	rule, words, person, receiver, delivery
from history as event`

// inTime narrows to the times of a window, and to a component; see Window.time.
const inTime = `(? = '' or components like ? escape '!') and at >= ? and at <= ? and (? = '' or at < ? or (at = ? and id < ?))`

// time are the values of inTime.
func (w HistoryFilter) time() []any {
	component := ""
	if w.Component != "" {
		component = "% " + escaped(plain(w.Component)) + " %"
	}
	before, newest := plain(w.Before.ID), int64(math.MaxInt64)
	if before != "" {
		newest = database.Micros(w.Before.At)
	}
	return []any{component, component, w.Since, newest, before, w.Before.At, w.Before.At, before}
}

// selectByTime goes through the events by their time until enough are found.
func (w HistoryFilter) selectByTime() (query string, args []any) {
	return selectEvents + "\nwhere " + atPlace + " and " + inTime + "\norder by at desc, id desc limit ?", append(append(w.place(), w.time()...), w.Limit)
}

// escaped is text that stands for itself in a "like".
func escaped(text string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text)
}

func readEvent(scan database.Scan) (e Event, err error) {
	var at int64
	var versions string
	if err := scan(&e.ID, &at, &e.Repository, &e.Name, &e.Environment, &e.Application, &e.Action, &e.Promotion, &e.Snapshot, &versions,
		&e.Commit, &e.Number, &e.URL, &e.Rule, &e.Message, &e.User, &e.Trigger.Receiver, &e.Trigger.Delivery); err != nil {
		return e, err
	}
	e.At = database.Time(at)
	if number, url, joined := strings.Cut(e.URL, " "); joined && e.Number == 0 {
		e.Number, _ = strconv.Atoi(number) // the query wrote it
		e.URL = url
	}
	if err := json.Unmarshal([]byte(versions), &e.Versions); err != nil {
		return e, fmt.Errorf("read the versions of the event %s: %w", e.ID, err)
	}
	return e, nil
}
