package web

import (
	"fmt"
	"html"
	"html/template"
	"net/url"
	"strings"
	"time"

	"promoter/internal/api"
)

// absolute is the form of a time that does not depend on when it is read.
const absolute = "2006-01-02 15:04:05 UTC"

// timeElement shows a time in its absolute form, and how far it is from now.
func timeElement(now, at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time> <span class="soft">(%s)</span>`, //nolint:gosec // digits only
		at.Format(time.RFC3339), at.Format(absolute), relative(now, at)))
}

// ageElement shows how far a time is from now, with its absolute form as the title.
func ageElement(now, at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, //nolint:gosec // digits only
		at.Format(time.RFC3339), at.Format(absolute), relative(now, at)))
}

const day = 24 * time.Hour

// relative returns how far a time is from now, as in "3h ago" or "in 2d".
func relative(now, at time.Time) string {
	distance := now.Sub(at)
	if distance < 0 {
		return "in " + span(-distance)
	}
	if distance < time.Minute {
		return "just now"
	}
	return span(distance) + " ago"
}

// span is a duration in its largest unit, and in the next one if there are few of it.
func span(d time.Duration) string {
	const few = 3
	hours, minutes := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch days := int(d / day); {
	case d < time.Minute:
		return "1m"
	case d < time.Hour:
		return fmt.Sprintf("%dm", minutes)
	case hours < few && minutes > 0:
		return fmt.Sprintf("%dh %dm", hours, minutes)
	case days < 1:
		return fmt.Sprintf("%dh", hours)
	case days < few && hours%24 > 0:
		return fmt.Sprintf("%dd %dh", days, hours%24)
	default:
		return fmt.Sprintf("%dd", days)
	}
}

// statusElement shows a state as a word with a color of its class.
func statusElement(value any) template.HTML {
	state := fmt.Sprint(value)
	return template.HTML(`<span class="word ` + classOf(state) + `">` + html.EscapeString(state) + `</span>`) //nolint:gosec // escaped
}

// classOf returns the CSS class of a state.
func classOf(state string) string {
	switch strings.ToLower(state) {
	case "error", "failed", "failing", "degraded", "missing", "refused", "unanswered", "not checked out":
		return "bad"
	case "warning", "held", "hold", "freeze", "incident", "stuck", "rejected", "reverted", "blocked", "drift":
		return "warn"
	case "open", "proposed", "progressing", "running":
		return "busy"
	case "waiting", "unknown", "suspended":
		return "wait"
	case "up to date", "passed", "healthy", "same", "landed", "idle", "there":
		return "good"
	}
	return "plain"
}

// repositoryURL returns the URL of the page of a repository.
func repositoryURL(repository string) string { return "/repositories/" + url.PathEscape(repository) }

// applicationURL returns the URL of the page of an application.
func applicationURL(repository, application string) string {
	return api.PathWith(applicationPath(application), map[string]string{"repository": repository})
}

func applicationPath(application string) string {
	return "/applications/" + url.PathEscape(application)
}
