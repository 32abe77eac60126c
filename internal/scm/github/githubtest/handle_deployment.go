package githubtest

import (
	"net/http"
	"time"

	"promoter/internal/scm/forgetest"
)

type deployment = forgetest.Deployment

func listDeployments(c *call) *reply {
	return list(c, c.repo.model.DeployedTo(c.r.URL.Query().Get("environment")), drawDeployment)
}

// listDeploymentStatuses returns the statuses of a deployment, of which the fake has the latest.
func listDeploymentStatuses(c *call) *reply {
	for _, one := range c.repo.model.Deployed {
		if itoa(int(one.ID)) == c.r.PathValue("id") {
			return list(c, []*deployment{one}, drawDeploymentStatus)
		}
	}
	return refuse(http.StatusNotFound, "Not Found")
}

func (c *call) deploymentURL(one *deployment) string {
	return c.s.API() + "repos/" + c.repo.model.FullName() + "/deployments/" + itoa(int(one.ID))
}

func drawDeployment(c *call, one *deployment) object {
	url, at := c.deploymentURL(one), one.At.Format(time.RFC3339)
	return object{
		"id": one.ID, "node_id": node(one.ID), "url": url, "sha": one.Commit, "ref": "main", "task": "deploy", "payload": object{},
		"original_environment": one.Environment, "environment": one.Environment, "description": nil, "creator": drawUser(c, one.By),
		"created_at": at, "updated_at": at, "statuses_url": url + "/statuses", "repository_url": c.s.API() + "repos/" + c.repo.model.FullName(),
	}
}

func drawDeploymentStatus(c *call, one *deployment) object {
	url, at := c.deploymentURL(one), one.At.Format(time.RFC3339)
	return object{
		"id": one.ID, "node_id": node(one.ID), "url": url + "/statuses/1", "state": one.State, "creator": drawUser(c, one.By),
		"description": "", "environment": one.Environment, "target_url": "", "log_url": "", "environment_url": "",
		"created_at": at, "updated_at": at, "deployment_url": url, "repository_url": c.s.API() + "repos/" + c.repo.model.FullName(),
	}
}
