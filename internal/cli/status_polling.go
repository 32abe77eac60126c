package cli

import (
	"fmt"
	"time"

	"promoter/internal/server"
)

// pollingLines say when repositories are looked at by themselves, and which hosts
// are left alone.
func pollingLines(status server.Status) []string {
	var lines []string
	for _, one := range status.Schedules {
		line := fmt.Sprintf("%s  %s", one.Schedule, count(one.Repositories, "repository", "repositories"))
		if !one.Last.IsZero() {
			line += ", came " + ago(status.At, one.Last)
		}
		if left := one.Next.Sub(status.At).Round(time.Second); !one.Next.IsZero() {
			line += fmt.Sprintf(", next in %v", max(left, 0))
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
		lines = append(lines, fmt.Sprintf("waiting: %s (%s) is sent nothing%s until %s: %s", one.Host, one.Peer, with, one.Until.Format(time.RFC3339), one.Reason))
	}
	return lines
}
