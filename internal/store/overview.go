package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/database"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// TargetDetail is what users ask about a target beside its decision. It comes from the last
// reconciliation.
type TargetDetail struct {
	Conditions []promotion.Condition `json:"conditions,omitempty"`
	Gates      []promotion.Condition `json:"gates,omitempty"`
	Notes      []string              `json:"notes,omitempty"` // such as the hold in effect
	Left       []string              `json:"left,omitempty"`  // components that stay behind, with the reason
	Title      string                `json:"title,omitempty"` // display name of the environment, if it has one
	Propose    string                `json:"propose"`         // as the config says
	Land       string                `json:"land"`
	Health     *TargetHealth         `json:"health,omitempty"` // nil: it is not monitored, or not known
	Hold       *TargetHold           `json:"hold,omitempty"`
	Request    *TargetRequest        `json:"request,omitempty"`
	Opened     time.Time             `json:"opened,omitzero"` // when the open pull request was opened
	ApprovedBy []string              `json:"approvedBy,omitempty"`
	Sources    []SourceChange        `json:"sources,omitempty"` // what the open pull request brings
}

// SourceChange is what the source of a component says about the change from the version of an
// environment to the one that is proposed.
type SourceChange struct {
	Component string         `json:"component"`
	Source    string         `json:"source,omitempty"`  // HOST/OWNER/NAME
	URL       string         `json:"url,omitempty"`     // of the page that compares the commits
	Removes   bool           `json:"removes,omitempty"` // the change goes back and removes the commits
	Commits   []SourceCommit `json:"commits,omitempty"`
	Total     int            `json:"total,omitempty"`   // also those that are left out
	Release   string         `json:"release,omitempty"` // URL of the release notes
	Unknown   string         `json:"unknown,omitempty"` // why the commits are not known
}

// SourceCommit is a commit of a SourceChange.
type SourceCommit struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"`
	Author  string    `json:"author,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Number  int       `json:"number,omitempty"` // of the pull request that its message names
	URL     string    `json:"url,omitempty"`    // of that
}

// Short is the commit as users know it.
func (c SourceCommit) Short() string {
	const digits = 7
	return c.ID[:min(digits, len(c.ID))]
}

// Left returns how many commits are left out.
func (c SourceChange) Left() int { return max(0, c.Total-len(c.Commits)) }

// TargetHealth is what sources reported about the landed versions of a target.
type TargetHealth struct {
	Status  string    `json:"status,omitempty"` // empty: nothing was reported
	Sync    string    `json:"sync,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Message string    `json:"message,omitempty"` // of the source
	Note    string    `json:"note,omitempty"`    // why a report does not count, or what to set up
	// HealthySince is zero if it was not healthy yet, or failed afterward.
	HealthySince time.Time `json:"healthySince,omitzero"`
	Failure      string    `json:"failure,omitempty"` // why the landed versions count as failed
	// Actual is what runs in place of what is in the files, of the components that differ, and
	// ActualStatus is the health of it.
	Actual       []EventVersion `json:"actual,omitempty"`
	ActualStatus string         `json:"actualStatus,omitempty"`
}

// TargetHold is a hold or freeze in effect.
type TargetHold struct {
	Kind   string    `json:"kind"` // HoldHold or HoldFreeze
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Scope  string    `json:"scope"` // what is held: a target, an environment, or the repository
	// Applies is why a decision about another name applies here; empty: it is about this name.
	Applies string `json:"applies,omitempty"`
}

// The kinds of a TargetHold.
const (
	HoldHold   = "hold"
	HoldFreeze = "freeze"
)

// TargetRequest is a promotion or a rollback that is requested and not done yet.
type TargetRequest struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

// TargetRow is a target as a list shows it. Its texts are for users.
type TargetRow struct {
	Repository  string // its key
	Environment string
	Application string
	State       string
	Since       time.Time // since when it has the state and the rule
	Version     string    // that is in the files, such as "1.4.2" or "web 1.4.2, worker 2.0"
	Wanted      string    // if another one is wanted
	Rule        string
	Message     string    // the reason
	Until       time.Time // when that may change by itself; zero: unknown
	Health      string    // of what landed; empty: not monitored, or nothing was reported
	Held        string    // HoldHold, HoldFreeze, or empty
	Number      int       // of the open pull request; 0: none
	URL         string    // of it
	Opened      time.Time // when it was opened; zero: unknown
	LandedAt    time.Time // zero: unknown
}

// HealthFailed is the health of a row whose landed versions count as failed.
const HealthFailed = "failed"

// Row returns the target as a list shows it, without the time of its landing.
func (t Target) Row() TargetRow {
	row := TargetRow{
		Environment: t.Environment, Application: t.Application, State: t.State, Since: t.Since,
		Version: versionsText(t.Current), Wanted: wantedText(t.Current, t.Wanted),
		Rule: t.Rule, Message: t.Message, Until: t.Until, Number: t.Number, URL: t.URL, Opened: t.Detail.Opened,
	}
	if t.Detail.Hold != nil {
		row.Held = t.Detail.Hold.Kind
	}
	if health := t.Detail.Health; health != nil {
		if row.Health = health.Status; health.Failure != "" {
			row.Health = HealthFailed
		}
	}
	return row
}

// summary is the part of a row that is stored as one text: tab-separated, so that a list of
// 10,000 targets parses no JSON.
func (r TargetRow) summary() string {
	fields := []string{
		r.Version, r.Wanted, r.Rule, r.Message, strconv.FormatInt(database.Micros(r.Until), 10), r.Health, r.Held,
		strconv.Itoa(r.Number), r.URL, r.State, strconv.FormatInt(database.Micros(r.Opened), 10),
	}
	for i, field := range fields {
		fields[i] = strings.Map(func(r rune) rune {
			if r == '\t' || r == '\n' {
				return ' '
			}
			return r
		}, field)
	}
	return strings.Join(fields, "\t")
}

// summaryFields is the number of fields of a summary.
const summaryFields = 11

// read sets what a summary has.
func (r *TargetRow) read(summary string) {
	fields := strings.SplitN(summary, "\t", summaryFields)
	if len(fields) < summaryFields { // an earlier release wrote it: it has not all fields
		fields = slices.Concat(fields, make([]string, summaryFields-len(fields)))
	}
	until, _ := strconv.ParseInt(fields[4], 10, 64) // summary writes all numbers
	r.Number, _ = strconv.Atoi(fields[7])
	opened, _ := strconv.ParseInt(fields[10], 10, 64)
	r.Version = fields[0]
	r.Wanted = fields[1]
	r.Rule = fields[2]
	r.Message = fields[3]
	r.Until = database.Time(until)
	r.Health = fields[5]
	r.Held = fields[6]
	r.URL = fields[8]
	r.State = fields[9]
	r.Opened = database.Time(opened)
}

// maxShownVersions limits the components in a text of versions.
const maxShownVersions = 3

// versionsText is "1.4.2" for one component, else "web 1.4.2, worker 2.0, 3 more".
func versionsText(versions []EventVersion) string {
	var parts []string
	for i, v := range versions {
		label := v.Label()
		switch {
		case len(versions) == 1:
			return label
		case i < maxShownVersions:
			parts = append(parts, v.Component+" "+label)
		case i == maxShownVersions:
			parts = append(parts, strconv.Itoa(len(versions)-i)+" more")
		}
	}
	return strings.Join(parts, ", ")
}

func wantedText(current, wanted []EventVersion) string {
	changed := slices.DeleteFunc(slices.Clone(wanted), func(w EventVersion) bool {
		return slices.ContainsFunc(current, func(c EventVersion) bool {
			return c.Component == w.Component && c.Tag == w.Tag && c.Digest == w.Digest
		})
	})
	if len(changed) == 1 && len(current) > 1 {
		return changed[0].Component + " " + changed[0].Label()
	}
	return versionsText(changed)
}

// Image returns a version as a reference: REPOSITORY:TAG@DIGEST, as far as it is known.
func (v EventVersion) Image() string {
	return image.Reference{Name: v.Repository, Tag: v.Tag, Digest: v.Digest}.String()
}

// Label is a version for users: its tag, else the first digits of its digest.
func (v EventVersion) Label() string {
	return cmp.Or(promotion.Label(image.Version{Tag: v.Tag, Digest: v.Digest}), "unknown")
}

// Same reports whether two versions are the same image of the same component, as far as both
// are known.
func (v EventVersion) Same(other EventVersion) bool {
	switch {
	case v.Component != other.Component:
		return false
	case v.Digest != "" && other.Digest != "":
		return v.Digest == other.Digest
	}
	return v.Tag != "" && v.Tag == other.Tag
}

// Overview lists the targets of all repositories, by repository and in the order of their
// environments.
func (t Targets) Overview(ctx context.Context) ([]TargetRow, error) {
	return viewRows(ctx, t.db, func(scan database.Scan, row *TargetRow) error {
		var summary string
		if err := scan(&row.Repository, &row.Environment, &row.Application, &row.Since, &row.LandedAt, &summary); err != nil {
			return err
		}
		row.read(summary)
		return nil
	}, `
select target.repository, target.environment, target.application, target.since, coalesce(landed.at, 0), target.summary
from target left join landed on landed.repository = target.repository and landed.environment = target.environment
	and landed.application = target.application
order by target.repository, target.position`)
}

// Landed is the newest landing in a target.
type Landed struct {
	At       time.Time
	Snapshot string // its ID
	Commit   string
	Number   int // of the pull request; 0: none or unknown
	URL      string
}

// Landed returns the newest landing in each target of an application, by environment.
func (t Targets) Landed(ctx context.Context, repository, application string) (map[string]Landed, error) {
	found := map[string]Landed{}
	const query = "select environment, at, snapshot, commit_id, number, url from landed where repository = ? and application = ?"
	err := t.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var environment string
			var one Landed
			err := scan(&environment, &one.At, &one.Snapshot, &one.Commit, &one.Number, &one.URL)
			found[environment] = one
			return err
		}, query, repository, storable(application))
	})
	return found, err
}

// addLanded remembers the newest landing of each target among events that were written.
func addLanded(ctx context.Context, tx *database.Tx, events string) error {
	_, err := tx.Exec(ctx, `
insert into landed (repository, environment, application, at, snapshot, commit_id, number, url)
select repository, environment, application, at, snapshot, commit_id, number, url from (
	select value->>'repository' as repository, value->>'environment' as environment, value->>'application' as application,
		cast(value->>'at' as bigint) as at, value->>'snapshot' as snapshot, value->>'commit' as commit_id,
		cast(value->>'number' as bigint) as number, value->>'url' as url,
		row_number() over (partition by value->>'repository', value->>'environment', value->>'application'
			order by cast(value->>'at' as bigint) desc, value->>'id' desc) as position
	from @elements(?) where value->>'action' in ('landed', 'merged', 'pushed')) as one
where position = 1
on conflict (repository, environment, application) do update set at = excluded.at, snapshot = excluded.snapshot,
	commit_id = excluded.commit_id, number = excluded.number, url = excluded.url
where excluded.at > landed.at or (excluded.commit_id = landed.commit_id and excluded.number > 0)`, events)
	return err
}
