package promotion

import (
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/health"
)

// healthy requires that the snapshot is healthy in the parent, by what the source that the
// parent names reported about it. A snapshot that was replaced there stays eligible if it was
// healthy at the end.
func healthy(parent config.Parent) []parentCondition {
	if !parent.Healthy {
		return nil
	}
	return []parentCondition{{name: "healthy", inSource: func(in *input, t tenure, c *Condition) {
		c.State, c.Reason, c.Value = Pending, "", t.health.String()
		switch {
		case t.monitored == nil:
			c.State, c.Reason, c.Value = Blocked, "it is not monitored there: add health to the environment", ""
		case t.failure != nil:
			c.State, c.Reason = Failed, t.failure.Message
		case t.past && !t.health.HealthySince.IsZero(), !t.past && t.health.IsHealthy():
			c.State, c.Reason = Passed, "healthy since "+moment(earlier(t.health.HealthySince, in.now))
		case t.past:
			c.State, c.Reason = Failed, "it was not healthy when it was replaced"
			if t.health.IsReported() {
				c.Reason += ": " + healthText(t.health)
			}
		case t.health.IsReported():
			c.Reason = healthText(t.health)
		default:
			c.Reason = notReportedYet(t.monitored, t.healthNote)
		}
	}}}
}

// healthText describes a state with its time and the message of the source.
func healthText(s health.State) string {
	text := s.String() + " since " + moment(s.Since)
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// notReportedYet is why nothing is known about the health of a snapshot: what was reported is
// about other versions, or nothing ever was, with what to set up.
func notReportedYet(monitored *config.Health, note string) string {
	if note != "" {
		return note
	}
	return "no source has reported: " + SetUpHealth(*monitored)
}

// SetUpHealth returns what to do where nothing ever reported the health of an environment.
func SetUpHealth(h config.Health) string {
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

// healthyFor is the soak of a parent that is monitored: it counts from when the snapshot became
// healthy, and starts again when it was degraded or missing.
func healthyFor(in *input, t tenure, soak time.Duration, c *Condition) {
	since := earlier(t.health.HealthySince, in.now)
	switch {
	case t.failure != nil:
		c.State, c.Reason = Failed, t.failure.Message
	case t.health.HealthySince.IsZero() && t.past:
		c.State, c.Reason = Failed, "it was not healthy when it was replaced"
	case t.health.HealthySince.IsZero() && t.health.IsReported():
		c.Reason = healthText(t.health)
	case t.health.HealthySince.IsZero():
		c.Reason = notReportedYet(t.monitored, t.healthNote)
	case t.past:
		until := earlier(t.until, in.now)
		c.Reason = "healthy from " + moment(since) + " until " + moment(until)
		if !until.IsZero() && until.Sub(since) >= soak {
			c.State = Passed
		}
	default:
		c.Reason = "healthy since " + moment(since)
		if at := since.Add(soak); in.now.Before(at) {
			c.Until = &at
		} else {
			c.State = Passed
		}
	}
}

// withHealth adds the health of a landing to the tenure that it belongs to, from the newest to
// the oldest. What is reported about a newer one takes precedence.
func (t *tenure) withHealth(l Landing) {
	switch was := t.health; {
	case !was.IsReported():
		t.health = l.Health
	case !was.HealthySince.IsZero() && !l.Health.HealthySince.IsZero():
		t.health.HealthySince = l.Health.HealthySince
	}
	if t.healthNote == "" {
		t.healthNote = l.HealthNote
	}
}
