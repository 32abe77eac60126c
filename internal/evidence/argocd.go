package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/health"
)

// Application has the fields of an Argo CD Application that matter here. The shipped template of
// notifications posts them, and the API returns them.
// https://github.com/argoproj/argo-cd/blob/master/pkg/apis/application/v1alpha1/types.go
type Application struct {
	// At is when the template was rendered. The resource has no such field.
	At       time.Time `json:"at,omitzero"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Source         argoSource   `json:"source"`
		Sources        []argoSource `json:"sources"`
		SourceHydrator struct {
			DrySource argoSource `json:"drySource"`
		} `json:"sourceHydrator"`
	} `json:"spec"`
	Status *argoStatus `json:"status"`
}

type argoSource struct {
	RepoURL string `json:"repoURL"`
}

type argoStatus struct {
	Health struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"health"`
	// Sync compares what is deployed with the revision that should be.
	Sync struct {
		Status string `json:"status"`
		argoRevision
	} `json:"sync"`
	// OperationState is the last sync that Argo CD began.
	OperationState struct {
		Phase      string       `json:"phase"`
		Message    string       `json:"message"`
		SyncResult argoRevision `json:"syncResult"`
	} `json:"operationState"`
	Summary struct {
		Images []string `json:"images"`
	} `json:"summary"`
	Conditions []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"conditions"`
	// Resources are those of the template that are not healthy.
	Resources []struct {
		Kind   string `json:"kind"`
		Name   string `json:"name"`
		Health struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"health"`
	} `json:"resources"`
}

// argoRevision is a revision, or several where an Application has several sources.
type argoRevision struct {
	Revision  string   `json:"revision"`
	Revisions []string `json:"revisions"`
}

func (r argoRevision) all() []string {
	if len(r.Revisions) > 0 {
		return r.Revisions
	}
	if r.Revision == "" {
		return nil
	}
	return []string{r.Revision}
}

// Check reports what an Application that was posted is missing.
func (a Application) Check() error {
	switch {
	case a.Metadata.Name == "":
		return fault.New(fault.Invalid, "it has no metadata.name: use the template config/argocd/notifications.yaml of promoter")
	case a.Status == nil:
		return fault.New(fault.Invalid, "it has no status: use the template config/argocd/notifications.yaml of promoter")
	case len(a.repositories()) == 0:
		return fault.New(fault.Invalid, "it has no spec.source.repoURL with a host and a path")
	}
	return nil
}

// maxSources limits the sources of an Application. Argo CD has no limit.
const maxSources = 20

// repositories returns those that the Application is deployed from, each once.
func (a Application) repositories() (all []event.Repository) {
	sources := append([]argoSource{a.Spec.Source, a.Spec.SourceHydrator.DrySource}, a.Spec.Sources...)
	for _, source := range sources[:min(len(sources), maxSources)] {
		if repository, ok := RepositoryAt(source.RepoURL); ok && !slices.Contains(all, repository) {
			all = append(all, repository)
		}
	}
	return all
}

// The phases of an operation.
// https://github.com/argoproj/gitops-engine/blob/master/pkg/sync/common/types.go
const (
	argoRunning     = "Running"
	argoTerminating = "Terminating"
	argoFailed      = "Failed"
	argoError       = "Error"
)

// Report returns what the Application reports, observed at a time.
//
// Its health is that of the live resources, and `sync` compares them with the revision that
// should be deployed. So the health is that of this revision only when it is Synced, and
// otherwise that of the revision that was applied last. While a sync runs, the health may
// still be that of the resources before it.
func (a Application) Report(at time.Time) Report {
	r := health.Report{Source: health.ArgoCD, Subject: a.Metadata.Name, At: at}
	if a.Metadata.Namespace != "" {
		r.Subject = a.Metadata.Namespace + "/" + a.Metadata.Name
	}
	status := cmp.Or(a.Status, &argoStatus{})
	r.Status, _ = health.ParseStatus(status.Health.Status)
	r.Sync, _ = health.ParseSync(status.Sync.Status)
	live := true
	revisions := status.Sync.all()
	operation := status.OperationState
	applied, synced := operation.SyncResult.all(), r.Sync == health.Synced
	outcome := len(applied) > 0 && (!synced || slices.Equal(applied, revisions)) // no later one replaced it
	if !synced {
		revisions = applied
	}
	switch {
	case operation.Phase == argoRunning || operation.Phase == argoTerminating:
		revisions, live = applied, false
		if r.Status == health.Healthy || r.Status == health.Degraded {
			r.Status = health.Progressing
		}
	case operation.Phase == argoFailed && outcome: // it was not deployed, or one of its hooks failed
		r.Status, live = health.Degraded, false
	case operation.Phase == argoError && outcome: // Argo CD could not do it
		r.Status, live = health.Unknown, false
	}
	for _, revision := range revisions {
		bind(&r, revision)
	}
	if live {
		for _, image := range status.Summary.Images {
			if _, digest, found := strings.Cut(image, "@"); found && isDigest(digest) {
				r.Digests = append(r.Digests, digest)
			}
		}
	}
	r.Message = status.message(live)
	return Report{Health: r.Bounded(), Repositories: a.repositories()}
}

// message returns why the status is what it is. Argo CD has the reason at one of these.
func (s argoStatus) message(live bool) string {
	texts := []string{s.Health.Message}
	for _, resource := range s.Resources {
		if resource.Health.Message != "" && resource.Health.Status == s.Health.Status {
			texts = append(texts, resource.Kind+" "+resource.Name+": "+resource.Health.Message)
		}
	}
	for _, condition := range s.Conditions {
		if strings.HasSuffix(condition.Type, "Error") {
			texts = append(texts, condition.Type+": "+condition.Message)
		}
	}
	if !live {
		texts = append([]string{s.OperationState.Message}, texts...)
	}
	return cmp.Or(texts...)
}
