package decision

import (
	"promoter/internal/api"
	"promoter/internal/verb"
)

// Answer returns a recorded decision as the HTTP API and the command line show it.
func Answer(what verb.Verb, r Result) api.Decided {
	answer := api.Decided{
		Schema: api.Schema, Repository: r.Repository,
		Verb: what, By: api.User{Host: r.By.Host, Login: r.By.Login}, Subject: r.Subject,
		Targets: []api.DecidedTarget{}, Images: r.Images, Effects: append([]string{}, r.Effects...), Unchanged: r.Unchanged,
	}
	for _, target := range r.Targets {
		answer.Targets = append(answer.Targets, api.DecidedTarget(target))
	}
	return answer
}
