package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/health"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Deployed implements scm.Deployments. The status of a deployment is the latest of its list.
// https://docs.github.com/en/rest/deployments/deployments
func (r *repository) Deployed(ctx context.Context, environment string) (scm.Deployment, bool, error) {
	noun := r.noun("deployments to %s", rest.OneLine(environment))
	one := gogithub.ListOptions{PerPage: 1} // the newest is the first
	found, _, err := r.forge.api.Repositories.ListDeployments(ctx, r.owner, r.name,
		&gogithub.DeploymentsListOptions{Environment: environment, ListOptions: one})
	if err != nil || len(found) == 0 {
		return scm.Deployment{}, false, explain(noun, err)
	}
	newest := found[0]
	deployment := scm.Deployment{Commit: newest.GetSHA(), Status: health.Progressing, At: newest.GetCreatedAt().UTC()}
	statuses, _, err := r.forge.api.Repositories.ListDeploymentStatuses(ctx, r.owner, r.name, newest.GetID(), &one)
	if err != nil {
		return scm.Deployment{}, false, explain(noun, err)
	}
	if len(statuses) > 0 {
		latest := statuses[0]
		deployment.Status = deploymentStatus(latest.GetState())
		deployment.Description = latest.GetDescription()
		deployment.URL = latest.GetLogURL()
		deployment.At = latest.GetCreatedAt().UTC()
	}
	return deployment, true, nil
}

// deploymentStatus converts the state of a deployment. One that is inactive is no longer there.
// https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status
func deploymentStatus(state string) health.Status {
	switch state {
	case "success":
		return health.Healthy
	case "failure", "error":
		return health.Degraded
	case "inactive":
		return health.Missing
	case "queued", "pending", "in_progress":
		return health.Progressing
	default:
		return health.Unknown
	}
}
