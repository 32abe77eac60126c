// Package health has the vocabulary of health: what GitOps engines and other sources report
// about a commit or digest in an environment, and what follows for a landed snapshot.
//
// A report is a claim of its source, not a fact. It counts for a landed commit only when its
// source is the one that the config names for the environment, and when what it is about, a
// revision or digests, has the landed versions.
package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"promoter/internal/printable"
)

// Status is the health of what is deployed. The values are those of Argo CD, to which those of
// other sources are mapped.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/health/
type Status string

// The values of Status.
const (
	Healthy     Status = "Healthy"
	Suspended   Status = "Suspended"
	Progressing Status = "Progressing"
	Missing     Status = "Missing"
	Degraded    Status = "Degraded"
	Unknown     Status = "Unknown"
)

// Statuses returns all values, the best first, in the order by which Argo CD aggregates the
// health of resources.
// https://github.com/argoproj/gitops-engine/blob/master/pkg/health/health.go
func Statuses() []Status {
	return []Status{Healthy, Suspended, Progressing, Missing, Degraded, Unknown}
}

// ParseStatus returns the status of a name, in any case. Any other text is Unknown, and not ok.
func ParseStatus(text string) (status Status, ok bool) {
	for _, s := range Statuses() {
		if strings.EqualFold(text, string(s)) {
			return s, true
		}
	}
	return Unknown, false
}

// Sync is whether what is deployed is what the files of a revision say. The values are those of
// Argo CD. Empty: the source does not distinguish it.
type Sync string

// The values of Sync.
const (
	Synced      Sync = "Synced"
	OutOfSync   Sync = "OutOfSync"
	SyncUnknown Sync = "Unknown"
)

// ParseSync returns the sync status of a name, in any case. Empty text is the empty Sync; any
// other text is SyncUnknown, and not ok.
func ParseSync(text string) (sync Sync, ok bool) {
	for _, s := range []Sync{"", Synced, OutOfSync, SyncUnknown} {
		if strings.EqualFold(text, string(s)) {
			return s, true
		}
	}
	return SyncUnknown, false
}

// The kinds of sources, as the keys of `health` in the config.
const (
	ArgoCD     = "argocd"
	Flux       = "flux"
	Check      = "check"
	Deployment = "deployment"
	API        = "api"
)

// Limits of what is kept of a report.
const (
	MaxMessage  = 500 // bytes of a message
	MaxSubject  = 300 // bytes of the name of an object
	MaxBindings = 100 // revisions, digests, and charts
)

// Report is the latest that a source reported about one object.
type Report struct {
	Source   string // one of the kinds of sources
	Receiver string // the receiver in the server file that the report arrived at; empty: read from the forge
	// Subject is the object: the name of an Argo CD Application, also NAMESPACE/NAME; of Flux
	// kind/namespace/name, the kind in lower case; the context of a check; the environment of
	// a deployment; of the API ENVIRONMENT or ENVIRONMENT/APPLICATION.
	Subject string
	Status  Status
	Sync    Sync
	Message string // of the source, for users
	// Revisions are the commits, in hex, that were deployed: several where an object has several
	// sources. Digests are those of images or artifacts that are running. Either binds the
	// report; a report without any is bound to nothing. Charts are the versions of charts. They
	// bind a report only with the digest of the chart, because a version may move.
	Revisions []string
	Digests   []string
	Charts    []string
	At        time.Time // when the source observed it; never later than when it was received
}

// Bounded returns a report whose texts and lists are within the limits, and without characters
// that are not printable.
func (r Report) Bounded() Report {
	r.Subject, r.Message = oneLine(r.Subject, MaxSubject), oneLine(r.Message, MaxMessage)
	r.Revisions = r.Revisions[:min(len(r.Revisions), MaxBindings)]
	r.Digests = r.Digests[:min(len(r.Digests), MaxBindings)]
	r.Charts = r.Charts[:min(len(r.Charts), MaxBindings)]
	return r
}

// effective is the status that counts: what does not match the files of the revision is not
// deployed, whatever is its health. An engine reports the old version as healthy until then.
func (r Report) effective() Status {
	if r.Status == Healthy && (r.Sync == OutOfSync || r.Sync == SyncUnknown) {
		return Progressing
	}
	return r.Status
}

// State is the health of one landed snapshot in its target. The zero value is that no source
// reported anything about it.
type State struct {
	Status  Status    `json:"status,omitempty"` // empty: not reported
	Sync    Sync      `json:"sync,omitempty"`
	Since   time.Time `json:"since,omitzero"`    // since when the status is this
	Message string    `json:"message,omitempty"` // of the source; sanitize it before showing it
	Subject string    `json:"subject,omitempty"` // the object that decides
	// HealthySince is since when the snapshot was Healthy without being Degraded or Missing
	// afterward: a soak counts from then. A rollout of something else, which is Progressing, and
	// an engine that cannot reach its cluster do not end it. Zero: it was not healthy yet.
	HealthySince time.Time `json:"healthySince,omitzero"`
	// UnhealthySince is since when the snapshot is Degraded, Missing, or Progressing, whichever
	// of these in turn: a timeout counts from then. An engine that cannot reach its cluster does
	// not end it. Zero: it is not.
	UnhealthySince time.Time `json:"unhealthySince,omitzero"`
}

// IsReported reports whether any source reported about the snapshot.
func (s State) IsReported() bool { return s.Status != "" }

// IsHealthy reports whether the snapshot is deployed and healthy.
func (s State) IsHealthy() bool { return s.Status == Healthy }

// Next returns the state after reports that are bound to the snapshot: the worst of them. Since
// stays while the status stays. Without reports, the state stays.
func (s State) Next(reports []Report) State {
	if len(reports) == 0 {
		return s
	}
	order := Statuses()
	worst := slices.MaxFunc(reports, func(a, b Report) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.effective()), slices.Index(order, b.effective())),
			a.At.Compare(b.At), -cmp.Compare(a.Subject, b.Subject),
		)
	})
	next := State{Status: worst.effective(), Sync: worst.Sync, Since: worst.At.UTC(), Message: worst.Message, Subject: worst.Subject}
	if next.Status == Healthy { // all objects are: since the last one became healthy
		for _, r := range reports {
			if r.At.After(next.Since) {
				next.Since = r.At.UTC()
			}
		}
	}
	if next.Status == s.Status && !s.Since.IsZero() {
		next.Since = s.Since
	}
	switch {
	case next.Status == Degraded || next.Status == Missing:
	case !s.HealthySince.IsZero():
		next.HealthySince = s.HealthySince
	case next.Status == Healthy:
		next.HealthySince = next.Since
	}
	switch next.Status {
	case Degraded, Missing, Progressing:
		if next.UnhealthySince = s.UnhealthySince; next.UnhealthySince.IsZero() {
			next.UnhealthySince = next.Since
		}
	case Unknown:
		next.UnhealthySince = s.UnhealthySince
	}
	return next
}

// FailsAt returns when a snapshot that stays as it is has failed. It is zero where it does not
// fail by waiting: because it is healthy or suspended, or because nothing is known.
func (s State) FailsAt(timeout time.Duration) time.Time {
	if s.UnhealthySince.IsZero() || s.Status == Unknown {
		return time.Time{}
	}
	return s.UnhealthySince.Add(timeout)
}

// String returns the state for users: "Degraded, Synced".
func (s State) String() string {
	switch {
	case s.Status == "":
		return "not reported"
	case s.Sync == "":
		return string(s.Status)
	}
	return string(s.Status) + ", " + string(s.Sync)
}

// oneLine returns printable text in one line, of at most so many bytes.
func oneLine(text string, limit int) string {
	text = printable.Line(text)
	if len(text) <= limit {
		return text
	}
	text = text[:limit-len("…")]
	for len(text) > 0 && text[len(text)-1] >= 0x80 { // not in the middle of a character
		text = text[:len(text)-1]
	}
	return text + "…"
}
