package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/health"
)

// reportRow is a report for one of the repositories that may use it.
type reportRow struct {
	Receiver   string `json:"receiver"`
	Source     string `json:"source"`
	Repository string `json:"repository"`
	Subject    string `json:"subject"`
	Report     string `json:"report"`
	At         int64  `json:"at"`
}

func (r reportRow) key() reportRow {
	return reportRow{Receiver: r.Receiver, Source: r.Source, Repository: r.Repository, Subject: r.Subject}
}

func compareReports(a, b reportRow) int {
	return cmp.Or(cmp.Compare(a.Receiver, b.Receiver), cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.At, b.At))
}

// addressOf returns how a repository is stored with the reports that it may use.
func addressOf(r event.Repository) string { return storable(strings.ToLower(r.Host + "/" + r.Name)) }

// rowsOf returns the rows of a report. It has no time of its own: an unchanged report is equal.
func rowsOf(report evidence.Report, now int64) ([]reportRow, error) {
	stored, at := report.Health, now
	if !stored.At.IsZero() {
		at = min(stored.At.UnixMicro(), now) // a clock may be wrong
	}
	stored.At, stored.Subject = time.Time{}, storable(stored.Subject)
	text, err := json.Marshal(stored)
	if err != nil {
		return nil, fmt.Errorf("store a report of %s: %w", stored.Receiver, err)
	}
	row := reportRow{Receiver: stored.Receiver, Source: stored.Source, Subject: stored.Subject, Report: storable(string(text)), At: at}
	if len(report.Repositories) == 0 {
		return []reportRow{row}, nil
	}
	var rows []reportRow
	for _, repository := range report.Repositories {
		row.Repository = addressOf(repository)
		rows = append(rows, row)
	}
	return rows, nil
}

// HealthRecords is what was reported about health, and the states of landed commits.
type HealthRecords struct{ db *database.DB }

// SaveReports stores reports about health, of which each has its receiver. An older one never
// replaces a newer one, and one from the future counts as from now. It is one statement.
func (s HealthRecords) SaveReports(ctx context.Context, tx *database.Tx, reports []evidence.Report) error {
	if len(reports) == 0 {
		return nil
	}
	var now int64
	if err := tx.One(ctx, []any{&now}, "select @now"); err != nil {
		return err
	}
	var rows []reportRow
	for _, report := range reports {
		more, err := rowsOf(report, now)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	// Transactions that lock the same rows do so in the same order, and cannot deadlock.
	slices.SortStableFunc(rows, compareReports)
	var latest []reportRow
	for _, row := range rows {
		if n := len(latest); n > 0 && latest[n-1].key() == row.key() {
			latest[n-1] = row
			continue
		}
		latest = append(latest, row)
	}
	return execEach(ctx, tx, latest, `
insert into health_report (receiver, source, repository, subject, report, at, received_at)
select value->>'receiver', value->>'source', value->>'repository', value->>'subject', value->>'report', cast(value->>'at' as bigint), @now
from @elements(?) where true
on conflict (receiver, source, repository, subject) do update
set report = excluded.report, at = excluded.at, received_at = excluded.received_at where excluded.at >= health_report.at`)
}

// ChangedReports returns those of the reports that differ from what is stored of their objects,
// but for the time and the message.
func (s HealthRecords) ChangedReports(
	ctx context.Context, tx *database.Tx, receiver string, reports []evidence.Report,
) (changed []evidence.Report, err error) {
	stored := map[reportRow]string{}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var row reportRow
		if err := scan(&row.Receiver, &row.Source, &row.Repository, &row.Subject, &row.Report); err != nil {
			return err
		}
		var one health.Report
		if err := json.Unmarshal([]byte(row.Report), &one); err != nil {
			return fmt.Errorf("read a report: %w", err)
		}
		rows, err := rowsOf(evidence.Report{Health: withoutMessage(one)}, 0)
		if err != nil {
			return err
		}
		stored[row.key()] = rows[0].Report
		return nil
	}, "select receiver, source, repository, subject, report from health_report where receiver = ?", receiver)
	if err != nil {
		return nil, err
	}
	for _, report := range reports {
		rows, err := rowsOf(evidence.Report{Health: withoutMessage(report.Health), Repositories: report.Repositories}, 0)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rows, func(row reportRow) bool { return stored[row.key()] != row.Report }) {
			changed = append(changed, report)
		}
	}
	return changed, nil
}

func withoutMessage(r health.Report) health.Report {
	r.Message = ""
	return r
}

// maxReports limits the reports that one repository reads.
const maxReports = 20_000

// Reports returns the latest reports that arrived at some receivers and that one of the names
// of a repository may use.
func (s HealthRecords) Reports(ctx context.Context, receivers []string, names []event.Repository) ([]health.Report, error) {
	if len(receivers) == 0 {
		return nil, nil
	}
	var args []any
	for _, receiver := range receivers {
		args = append(args, receiver)
	}
	args = append(args, "") // a report of any repository
	for _, name := range names {
		args = append(args, addressOf(name))
	}
	const order = "order by receiver, source, subject, repository limit ?"
	from, about := placeholders(len(receivers)), placeholders(1+len(names))
	query := "select report, at from health_report where receiver in (" + from + ") and repository in (" + about + ") " + order
	return viewRows(ctx, s.db, func(scan database.Scan, one *health.Report) error {
		var text string
		var at time.Time
		if err := scan(&text, &at); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), one); err != nil {
			return fmt.Errorf("read a report: %w", err)
		}
		one.At = at
		return nil
	}, query, append(args, maxReports)...)
}

// LastReports returns when the last stored report arrived at each receiver that has one.
func (s HealthRecords) LastReports(ctx context.Context) (map[string]time.Time, error) {
	return viewPairs[string, time.Time](ctx, s.db, "select receiver, max(received_at) from health_report group by receiver")
}

// agedReports are the reports by when they were received.
var agedReports = aged{"health_report", "receiver, source, repository, subject", "received_at"}

// DeleteReportsBefore deletes reports that were received before a time, and returns their
// number.
func (s HealthRecords) DeleteReportsBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	return agedReports.deleteBefore(ctx, s.db, before)
}

// TrimReports deletes the oldest reports beyond a number, and returns how many.
func (s HealthRecords) TrimReports(ctx context.Context, limit int64) (deleted int64, err error) {
	return agedReports.deleteMany(ctx, s.db, limit)
}

// States returns what is stored of the states of landed commits of a repository.
func (s HealthRecords) States(ctx context.Context, repository string, keys []health.Key) (states map[health.Key]health.State, err error) {
	states = map[health.Key]health.State{}
	wanted := map[health.Key]bool{}
	contexts := []any{repository}
	for _, key := range keys {
		if !wanted[key] {
			wanted[key] = true
			contexts = append(contexts, key.Context)
		}
	}
	if len(wanted) == 0 {
		return states, nil
	}
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var key health.Key
			var text string
			if err := scan(&key.Context, &key.Commit, &text); err != nil || !wanted[key] {
				return err
			}
			var state health.State
			if err := json.Unmarshal([]byte(text), &state); err != nil {
				return fmt.Errorf("read the health of %s: %w", key.Commit, err)
			}
			states[key] = state
			return nil
		}, "select context, commit_id, state from health_state where repository = ? and context in ("+
			placeholders(len(contexts)-1)+")", contexts...)
	})
	return states, err
}

// maxStates is how many landed commits of each target keep their state.
const maxStates = 20

// SaveStates stores states of landed commits of a repository. Of each target, the states
// that were stored last are kept.
func (s HealthRecords) SaveStates(ctx context.Context, repository string, states map[health.Key]health.State) error {
	keys := slices.SortedFunc(maps.Keys(states), func(a, b health.Key) int {
		return cmp.Or(cmp.Compare(a.Context, b.Context), cmp.Compare(a.Commit, b.Commit))
	})
	if len(keys) == 0 {
		return nil
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		for _, key := range keys {
			text, err := json.Marshal(states[key])
			if err != nil {
				return fmt.Errorf("store the health of %s: %w", key.Commit, err)
			}
			if _, err := tx.Exec(ctx, `
insert into health_state (repository, context, commit_id, state, stored_at) values (?, ?, ?, ?, @now)
on conflict (repository, context, commit_id) do update set state = excluded.state, stored_at = excluded.stored_at`,
				repository, storable(key.Context), key.Commit, storable(string(text))); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `
delete from health_state where repository = ? and context = ? and commit_id not in (
	select commit_id from health_state where repository = ? and context = ? order by stored_at desc, commit_id limit ?
)`, repository, storable(key.Context), repository, storable(key.Context), maxStates); err != nil {
				return err
			}
		}
		return nil
	})
}
