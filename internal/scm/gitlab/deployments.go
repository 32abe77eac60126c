package gitlab

import (
	"cmp"
	"context"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/health"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Deployed implements scm.Deployments.
// https://docs.gitlab.com/api/deployments/#list-project-deployments
func (r *repository) Deployed(ctx context.Context, environment string) (scm.Deployment, bool, error) {
	found, _, err := r.forge.api.Deployments.ListProjectDeployments(r.id, &gogitlab.ListProjectDeploymentsOptions{
		ListOptions: gogitlab.ListOptions{PerPage: 1}, Environment: gogitlab.Ptr(environment),
		OrderBy: gogitlab.Ptr("created_at"), Sort: gogitlab.Ptr("desc"),
	}, in(ctx))
	if err != nil || len(found) == 0 {
		return scm.Deployment{}, false, explain(r.noun("deployments to %s", rest.OneLine(environment)), err)
	}
	newest := found[0]
	at := rest.TimeOf(cmp.Or(newest.UpdatedAt, newest.CreatedAt))
	return scm.Deployment{Commit: newest.SHA, Status: deploymentStatus(newest.Status), At: at}, true, nil
}

// deploymentStatus converts the status of a deployment. One that was canceled or skipped did not
// take place.
func deploymentStatus(status string) health.Status {
	switch status {
	case "success":
		return health.Healthy
	case "failed":
		return health.Degraded
	case "canceled", "skipped":
		return health.Missing
	case "created", "running", "blocked":
		return health.Progressing
	default:
		return health.Unknown
	}
}
