package promotion

import (
	"strings"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/health"
)

// Health is what runs in a target that is monitored, beside what the files have.
type Health struct {
	health.State
	// Note is what the last report is about that does not count, or what to set up where
	// nothing was ever reported; empty: neither.
	Note string
	// Failure is why what landed counts as failed. Nil: it does not.
	Failure *Reason
	// FailsAt is when it counts as failed if nothing changes; zero: never by waiting.
	FailsAt time.Time
}

// HealthText describes a state with its time and the message of the source.
func HealthText(s health.State) string {
	text := s.String() + " since " + Moment(s.Since)
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// NotReportedYet is why nothing is known about the health of a snapshot: what was reported is
// about other versions, or nothing ever was, with what to set up.
func NotReportedYet(monitored *setting.Health, note string) string {
	if note != "" {
		return note
	}
	return "no source has reported: " + SetUpHealth(*monitored)
}

// SetUpHealth returns what to do where nothing ever reported the health of an environment.
func SetUpHealth(h setting.Health) string {
	switch source := h.Source(); {
	case source == health.ArgoCD:
		return "let Argo CD notify the receiver " + h.From + " about " + strings.Join(h.ArgoCD, ", ") + " (docs/guides/health-argocd.md)"
	case source == health.Flux && h.From != "":
		return "let an Alert of Flux notify the receiver " + h.From + " about " + h.Flux + " (docs/guides/health-flux.md)"
	case source == health.Flux:
		return "let Flux set the commit status of " + h.Flux + " (docs/guides/health-flux.md)"
	case source == health.Check:
		return "set the commit status " + h.Check + " on the landed commit"
	case source == health.Deployment:
		return "create deployments to " + h.Deployment + " for the landed commit"
	default:
		return "send reports to POST /api/v1/evidence as " + h.From
	}
}
