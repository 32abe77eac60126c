package gitlab

import (
	"context"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Inspect reports that the project has no pipelines, to which our status could be added,
// and webhooks to the service that GitLab disabled. Only a Maintainer may read webhooks.
// https://docs.gitlab.com/user/project/integrations/webhooks/#auto-disabled-webhooks
func (r *repository) Inspect(ctx context.Context, url string) ([]scm.Notice, error) {
	var notices []scm.Notice
	options := &gogitlab.ListProjectPipelinesOptions{ListOptions: gogitlab.ListOptions{PerPage: 1}}
	pipelines, _, err := r.forge.api.Pipelines.ListProjectPipelines(r.id, options, in(ctx))
	if err != nil && !wasForbidden(err) {
		return nil, explain(r.noun("pipelines"), err)
	}
	if err == nil && len(pipelines) == 0 {
		notices = append(notices, scm.Notice{
			Message: "it has no pipelines: the status promoter is not set on its merge requests",
			Fix:     "add a job to .gitlab-ci.yml, if you want to see the status",
		})
	}
	if url == "" {
		return notices, nil
	}
	hooks, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.ProjectHook, *gogitlab.Response, error) {
		options := gogitlab.ListProjectHooksOptions(page)
		return r.forge.api.Projects.ListProjectHooks(r.id, &options, in(ctx))
	})
	if err != nil && !wasForbidden(err) && !wasNotFound(err) {
		return notices, explain(r.noun("webhooks"), err)
	}
	for _, hook := range hooks {
		if !strings.HasPrefix(hook.URL, url+"/") || hook.AlertStatus == "" || hook.AlertStatus == "executable" {
			continue
		}
		notices = append(notices, scm.Notice{
			Message: "GitLab disabled its webhook to the service after failures: it is " +
				rest.OneLine(strings.ReplaceAll(hook.AlertStatus, "_", " ")),
			Fix: "correct the cause, then test the webhook at " + r.info.URL + "/-/hooks",
		})
	}
	return notices, nil
}
