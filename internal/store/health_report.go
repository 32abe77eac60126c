package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
	text, err := json.Marshal(latest)
	if err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	_, err = tx.Exec(ctx, `
insert into health_report (receiver, source, repository, subject, report, at, received_at)
select value->>'receiver', value->>'source', value->>'repository', value->>'subject', value->>'report', cast(value->>'at' as bigint), @now
from @elements(?) where true
on conflict (receiver, source, repository, subject) do update
set report = excluded.report, at = excluded.at, received_at = excluded.received_at where excluded.at >= health_report.at`, string(text))
	return err
}

// ChangedReports returns those of the reports that differ from what is stored of their objects,
// but for the time and the message.
func (s HealthRecords) ChangedReports(ctx context.Context, tx *database.Tx, receiver string, reports []evidence.Report) (changed []evidence.Report, err error) {
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
		if err == nil {
			stored[row.key()] = rows[0].Report
		}
		return err
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
func (s HealthRecords) Reports(ctx context.Context, receivers []string, names []event.Repository) (all []health.Report, err error) {
	if len(receivers) == 0 {
		return nil, nil
	}
	addresses := []any{""}
	for _, name := range names {
		addresses = append(addresses, addressOf(name))
	}
	args := make([]any, 0, len(receivers)+len(addresses)+1)
	for _, receiver := range receivers {
		args = append(args, receiver)
	}
	args = append(append(args, addresses...), maxReports)
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var text string
			var at int64
			if err := scan(&text, &at); err != nil {
				return err
			}
			var one health.Report
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				return fmt.Errorf("read a report: %w", err)
			}
			one.At = database.Time(at)
			all = append(all, one)
			return nil
		}, "select report, at from health_report where receiver in (?"+strings.Repeat(", ?", len(receivers)-1)+
			") and repository in (?"+strings.Repeat(", ?", len(addresses)-1)+") order by receiver, source, subject, repository limit ?", args...)
	})
	return all, err
}

// LastReports returns when the last stored report arrived at each receiver that has one.
func (s HealthRecords) LastReports(ctx context.Context) (last map[string]time.Time, err error) {
	last = map[string]time.Time{}
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var receiver string
			var at int64
			err := scan(&receiver, &at)
			last[receiver] = database.Time(at)
			return err
		}, "select receiver, max(received_at) from health_report group by receiver")
	})
	return last, err
}

const deleteReports = `
delete from health_report where (receiver, source, repository, subject) in (
	select receiver, source, repository, subject from health_report where received_at < ? order by received_at limit ?
)`

// DeleteReportsBefore deletes reports that were received before a time, and returns their
// number.
func (s HealthRecords) DeleteReportsBefore(ctx context.Context, before time.Time) (deleted int64, err error) {
	return deleteInBatches(ctx, s.db, deleteReports, before)
}

// TrimReports deletes the oldest reports beyond a number, and returns how many.
func (s HealthRecords) TrimReports(ctx context.Context, limit int) (deleted int64, err error) {
	var newest int64
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&newest},
			"select coalesce(max(received_at), 0) from (select received_at from health_report order by received_at desc limit 1 offset ?) as beyond", limit)
	})
	if err != nil || newest == 0 {
		return 0, err
	}
	return deleteInBatches(ctx, s.db, deleteReports, database.Time(newest).Add(time.Microsecond))
}
