package client

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/api"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/delivery"
	"promoter/internal/view"
)

// maxDrift is how many lines about drift a repository has.
const maxDrift = 5

// text has one paragraph for each repository, with a table of its targets, and one each for
// the schedules, the receivers, and the deliveries. Times are relative to the clock of the
// service.
func (r report) text(paint render.Painter) string {
	var b strings.Builder
	for i, repository := range r.Repositories {
		if i > 0 && len(r.Applications) > 0 {
			b.WriteString("\n")
		}
		writeRepository(&b, r.At, repository)
		writeTargets(&b, r.At, r.targetsOf(repository), paint)
	}
	for _, one := range r.removed {
		b.WriteString("no longer listed: " + render.Visible(one) + "\n")
	}
	if !r.selected {
		writeService(&b, r.Status)
	}
	return b.String()
}

func writeRepository(b *strings.Builder, now time.Time, repository api.Repository) {
	line := func(format string, args ...any) { b.WriteString(render.Visible(fmt.Sprintf(format, args...)) + "\n") }
	line("%s  %s", repository.Name, strings.Join(repositoryFacts(now, repository), ", "))
	if repository.Failure != "" {
		line("  %s", repository.Failure)
	}
	if repository.LastError != "" && repository.LastError != repository.Failure {
		line("  %s", repository.LastError)
	}
	for i, one := range repository.Drift {
		if i == maxDrift {
			line("  and %d more", len(repository.Drift)-i)
			break
		}
		line("  %s", strings.TrimPrefix(render.TargetName(one.Target())+"  drift  "+one.String(), "  "))
	}
}

// target is one row of the table.
type target struct {
	application string
	view.TargetRow
}

// targetsOf returns the targets of a repository, in the order of the API.
func (r report) targetsOf(repository api.Repository) []target {
	var targets []target
	for _, row := range r.Applications {
		if !inRepository(repository)(row) {
			continue
		}
		for _, one := range row.Targets {
			targets = append(targets, target{application: row.Application, TargetRow: one})
		}
	}
	return targets
}

// writeTargets writes a table without the columns that are empty.
func writeTargets(b *strings.Builder, now time.Time, targets []target, paint render.Painter) {
	if len(targets) == 0 {
		return
	}
	rows := [][]string{{"application", "environment", "version", "age", "status", "health", "pull request", "changes in", "reason"}}
	for _, one := range targets {
		rows = append(rows, one.row(now))
	}
	rows = render.UsedColumns(rows)
	status := slices.Index(rows[0], "status")
	lines := render.Table(rows, func(column int, cell string) string {
		if column != status {
			return cell
		}
		return paint.Paint(statusColor(view.Status(cell)), cell)
	})
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
}

func (t target) row(now time.Time) []string {
	application, version := t.application, t.Version
	if application == config.DefaultApplication {
		application = ""
	}
	var age, request, left, reason string
	if t.Wanted != "" {
		version += " -> " + t.Wanted
	}
	if !t.Landed.IsZero() {
		age = delivery.Duration(now.Sub(t.Landed)).Text()
	}
	if t.PullRequest != nil {
		request = fmt.Sprintf("#%d", t.PullRequest.Number)
	}
	if t.Reason != nil && t.Status != view.UpToDate {
		reason = t.Reason.Message
	}
	if t.Reason != nil && t.Reason.Until.After(now) {
		left = delivery.Duration(t.Reason.Until.Sub(now)).Text()
	}
	return []string{application, t.Environment, version, age, string(t.Status), t.Health, request, left, reason}
}

func statusColor(status view.Status) string {
	switch status {
	case view.Failed, view.Stuck:
		return render.ColorRed
	case view.Held, view.Rejected:
		return render.ColorYellow
	case view.Open:
		return render.ColorCyan
	case view.UpToDate:
		return render.ColorGreen
	case view.Waiting:
	}
	return ""
}

// writeService writes the schedules, the receivers, the notifications, and the deliveries.
func writeService(b *strings.Builder, status api.Status) {
	for _, lines := range [][]string{scheduleLines(status), receiverLines(status), notificationLines(status), deliveryLines(status)} {
		for i, text := range lines {
			if i == 0 {
				b.WriteString("\n")
			}
			b.WriteString(render.Visible(text) + "\n")
		}
	}
}

func deliveryLines(status api.Status) []string {
	var lines []string
	for _, d := range status.Deliveries {
		again := ""
		if d.Times > 1 {
			again = fmt.Sprintf("  (%d times, the last %s)", d.Times, ago(status.At, d.SeenAt))
		}
		lines = append(lines, fmt.Sprintf("%s  %s  %s  %s%s", ago(status.At, d.ReceivedAt), d.Receiver, d.EventType, d.ID, again))
	}
	return lines
}

// repositoryFacts describes the state of a repository.
func repositoryFacts(now time.Time, repository api.Repository) []string {
	facts := []string{string(repository.State)}
	if repository.ReconciledAt.IsZero() {
		facts = append(facts, "never reconciled")
	} else {
		facts = append(facts, "reconciled "+ago(now, repository.ReconciledAt))
	}
	if !repository.WaitingSince.IsZero() {
		facts = append(facts, "triggered "+ago(now, repository.WaitingSince))
	}
	if repository.Attempts > 0 {
		facts = append(facts, "failed "+render.Count(repository.Attempts, "time", "times"))
	}
	switch left := repository.NextRun.Sub(now).Round(time.Second); {
	case repository.NextRun.IsZero() || repository.State == api.StateRunning:
	case left > 0:
		facts = append(facts, "next in "+delivery.Duration(left).Text())
	default:
		facts = append(facts, "next at once")
	}
	return facts
}

// scheduleLines lists the schedules, the hosts that receive no requests for now, and the secrets
// that could not be replaced.
func scheduleLines(status api.Status) []string {
	var lines []string
	for _, one := range status.Schedules {
		line := fmt.Sprintf("%s  %s", one.Schedule, render.Count(one.Repositories, "repository", "repositories"))
		if !one.Last.IsZero() {
			line += ", last " + ago(status.At, one.Last)
		}
		if left := one.Next.Sub(status.At).Round(time.Second); !one.Next.IsZero() {
			line += ", next in " + delivery.Duration(max(left, 0)).Text()
		}
		if lines = append(lines, line); one.Failing != "" {
			lines = append(lines, "  "+one.Failing)
		}
	}
	for _, one := range status.Backoffs {
		with := ""
		if one.Credential != "" {
			with = " with " + one.Credential
		}
		lines = append(lines, fmt.Sprintf("waiting: %s (%s): no requests%s until %s: %s",
			one.Host, one.Peer, with, one.Until.Format(time.RFC3339), one.Reason))
	}
	for _, one := range status.Secrets {
		use := ""
		if one.Use != "" {
			use = " (" + one.Use + ")"
		}
		lines = append(lines, fmt.Sprintf("secret not replaced: %s%s: the one before stays in use: %s", one.File, use, one.Reason))
	}
	return lines
}

// notificationLines lists the destinations of notifications, with what was not sent.
func notificationLines(status api.Status) []string {
	var lines []string
	for _, one := range status.Notifications {
		text := "destination " + one.Destination
		if one.SentAt.IsZero() {
			text += "  no message"
		} else {
			text += "  last message " + ago(status.At, one.SentAt)
		}
		if one.Waiting > 0 {
			text += fmt.Sprintf(", %d waiting", one.Waiting)
		}
		if one.Failed > 0 {
			text += fmt.Sprintf(", %d failed", one.Failed)
		}
		if lines = append(lines, text); one.Error != "" {
			lines = append(lines, "  "+one.Error)
		}
	}
	return lines
}

// receiverLines lists the receivers of reports about health, with what is missing.
func receiverLines(status api.Status) []string {
	var lines []string
	for _, one := range status.Receivers {
		text := "receiver " + one.Receiver
		if one.Kind != "" {
			text += " (" + one.Kind + ")"
		}
		text += "  " + render.Count(len(one.Repositories), "repository", "repositories")
		if one.ReportedAt.IsZero() {
			text += ", no report"
		} else {
			text += ", last report " + ago(status.At, one.ReportedAt)
		}
		lines = append(lines, text)
		if one.Failing != "" {
			lines = append(lines, "  "+one.Failing)
		}
		if one.SetUp != "" {
			lines = append(lines, "  "+one.SetUp)
		}
	}
	return lines
}

// ago returns how long ago something was, as precisely as the ages of targets are.
func ago(now, then time.Time) string {
	return delivery.Duration(max(now.Sub(then), 0).Round(time.Second)).Text() + " ago"
}
