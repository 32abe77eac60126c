package evidence

import (
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/health"
)

// FluxEvent is an event of Flux as its notification controller posts it. The keys of the metadata
// have no prefix there.
// https://fluxcd.io/flux/components/notification/events/
// https://github.com/fluxcd/pkg/blob/main/apis/event/v1beta1/event.go
type FluxEvent struct {
	Object struct {
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"involvedObject"`
	Severity  string            `json:"severity"`
	Timestamp time.Time         `json:"timestamp"`
	Message   string            `json:"message"`
	Reason    string            `json:"reason"`
	Metadata  map[string]string `json:"metadata"`
}

// The keys of the metadata that name what is deployed.
// https://github.com/fluxcd/pkg/blob/main/apis/event/v1beta1/metadata.go
// https://github.com/fluxcd/helm-controller/blob/v1.4.0/internal/reconcile/release.go
const (
	fluxRevision       = "revision"       // main@sha1:…, latest@sha256:…, or the version of a chart
	fluxOriginRevision = "originRevision" // of an OCI artifact: the commit that it was made from
	fluxOCIDigest      = "oci-digest"     // of a chart from an OCIRepository; a HelmRepository has none
)

// fluxStatuses maps the reasons of events. They are those of
// https://github.com/fluxcd/pkg/blob/main/apis/meta/conditions.go
// https://github.com/fluxcd/kustomize-controller/blob/main/internal/controller/kustomization_controller.go
// https://github.com/fluxcd/helm-controller/blob/main/api/v2/condition_types.go
var fluxStatuses = map[string]health.Status{
	// Of all kinds.
	"ReconciliationSucceeded": health.Healthy, // applied, and healthy where `wait` or `healthChecks` are set
	"Succeeded":               health.Healthy,
	"Progressing":             health.Progressing,
	"ProgressingWithRetry":    health.Progressing,
	"DependencyNotReady":      health.Progressing,
	"HealthCheckCanceled":     health.Progressing, // a newer revision arrived
	"HealthCheckFailed":       health.Degraded,
	"ReconciliationFailed":    health.Degraded, // not applied, or not completely
	"BuildFailed":             health.Degraded,
	"InvalidPath":             health.Degraded,
	"PruneFailed":             health.Degraded,
	"Failed":                  health.Degraded,
	"Suspended":               health.Suspended,
	"ArtifactFailed":          health.Unknown, // the source could not be read
	"AccessDenied":            health.Unknown,
	// Of a HelmRelease.
	"InstallSucceeded":   health.Healthy,
	"UpgradeSucceeded":   health.Healthy,
	"TestSucceeded":      health.Healthy,
	"RollbackSucceeded":  health.Healthy, // of the release that it returned to, which the event names
	"InstallFailed":      health.Degraded,
	"UpgradeFailed":      health.Degraded,
	"TestFailed":         health.Degraded,
	"RollbackFailed":     health.Degraded,
	"UninstallFailed":    health.Degraded,
	"UninstallSucceeded": health.Missing,
	"DriftDetected":      health.Progressing,
	"DriftCorrected":     health.Progressing,
}

// FluxCommitStatus returns the health that a commit status of Flux names: its description is the
// reason of the event, in words. The state is only the severity of the event, so that a
// dependency that is not ready is a success.
// https://github.com/fluxcd/notification-controller/blob/v1.6.0/internal/notifier/github.go
// https://github.com/fluxcd/notification-controller/blob/v1.6.0/internal/notifier/util.go
func FluxCommitStatus(description string) (status health.Status, known bool) {
	named := strings.ReplaceAll(description, " ", "")
	for reason, status := range fluxStatuses {
		if strings.EqualFold(reason, named) {
			return status, true
		}
	}
	return "", false
}

// Report returns what the event reports. Without a report, ignored is why.
func (e FluxEvent) Report() (report Report, ignored string, err error) {
	if e.Object.Kind == "" || e.Object.Namespace == "" || e.Object.Name == "" {
		return Report{}, "", fault.New(fault.Invalid, "it has no involvedObject")
	}
	status, known := fluxStatuses[e.Reason]
	switch {
	case known:
	case e.Severity == "error": // an object of another controller
		status = health.Unknown
	default:
		return Report{}, "the reason " + e.Reason + " says nothing about health", nil
	}
	r := health.Report{
		Source: health.Flux, Subject: strings.ToLower(e.Object.Kind) + "/" + e.Object.Namespace + "/" + e.Object.Name,
		Status: status, Message: e.Message, At: e.Timestamp,
	}
	switch {
	case e.Reason == "DriftDetected":
		r.Sync = health.OutOfSync
	case status == health.Healthy:
		r.Sync = health.Synced
	}
	bindFlux(&r, e.Metadata[fluxRevision])
	bindFlux(&r, e.Metadata[fluxOriginRevision])
	bind(&r, e.Metadata[fluxOCIDigest])
	return Report{Health: r.Bounded()}, "", nil
}

// bindFlux binds a report to a revision of Flux: [NAME@]ALGORITHM:HEX, a digest, or the version
// of a chart. Flux releases before 2.0 wrote NAME/HEX.
// https://github.com/fluxcd/flux2/tree/main/rfcs/0005-artifact-revision-and-digest
func bindFlux(r *health.Report, revision string) {
	named := revision[strings.LastIndexAny(revision, "@/")+1:]
	switch algorithm, sum, found := strings.Cut(named, ":"); {
	case found && algorithm == "sha256":
		bind(r, named) // of an artifact, or a commit of a repository with SHA-256
		bind(r, sum)
	case found && algorithm == "sha1":
		bind(r, sum)
	case isCommit(named):
		bind(r, named)
	case !found:
		bind(r, revision) // a version of a chart
	}
}
