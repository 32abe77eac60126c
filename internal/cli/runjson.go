package cli

import (
	"promoter/internal/app"
	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
)

// runSchema is the number of the JSON format of run and explain. It goes up like
// planSchema.
const runSchema = 1

type runJSON struct {
	Schema       int              `json:"schema"`
	Repositories []repositoryJSON `json:"repositories"`
}

type repositoryJSON struct {
	Repository   string                 `json:"repository"`
	Key          identity.RepositoryKey `json:"key,omitempty"`
	Name         string                 `json:"name,omitempty"`
	Failed       bool                   `json:"failed"`
	State        string                 `json:"state,omitempty"`
	Errors       []troubleJSON          `json:"errors"`
	Environments []decisionJSON         `json:"environments"`
	Acts         []actJSON              `json:"acts"`
	Onboarding   *onboardingJSON        `json:"onboarding,omitempty"`
}

type onboardingJSON struct {
	State  onboarding.State `json:"state"`
	Reason string           `json:"reason,omitempty"`
	Number int              `json:"number,omitempty"`
	URL    string           `json:"url,omitempty"`
	Commit string           `json:"commit,omitempty"`
	Config string           `json:"config,omitempty"`
}

type troubleJSON struct {
	What    string     `json:"what,omitempty"`
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message"`
}

type decisionJSON struct {
	Name        string                `json:"name"`
	Application string                `json:"application"`
	Snapshot    string                `json:"snapshot"`
	State       promotion.State       `json:"state"`
	Rule        promotion.Rule        `json:"rule"`
	Reason      string                `json:"reason"`
	Moves       []moveJSON            `json:"moves"`
	Conditions  []promotion.Condition `json:"conditions"`
	Gates       []promotion.Condition `json:"gates"`
}

type moveJSON struct {
	Component string        `json:"component"`
	From      versionInMove `json:"from"`
	To        versionInMove `json:"to"`
}

type versionInMove struct {
	Tag    string `json:"tag,omitempty"`
	Digest string `json:"digest,omitempty"`
}

type actJSON struct {
	Environment  string                `json:"environment"`
	Applications []string              `json:"applications"`
	Act          engine.Action         `json:"act"`
	Step         pullrequest.Step      `json:"step"`
	Reason       string                `json:"reason"`
	Promotions   []string              `json:"promotions"` // ids, by application
	Branch       string                `json:"branch,omitempty"`
	Number       int                   `json:"number,omitempty"`
	URL          string                `json:"url,omitempty"`
	Commit       string                `json:"commit,omitempty"`
	Land         bool                  `json:"land"`
	Gates        []promotion.Condition `json:"gates"`
	Error        *troubleJSON          `json:"error,omitempty"`
}

// runToJSON puts results into the form for programs. Lists are never null.
func runToJSON(results []app.Result, wanted func(promotion.Target) bool) runJSON {
	out := runJSON{Schema: runSchema, Repositories: []repositoryJSON{}}
	for i := range results {
		out.Repositories = append(out.Repositories, repositoryToJSON(&results[i], wanted))
	}
	return out
}

func repositoryToJSON(result *app.Result, wanted func(promotion.Target) bool) repositoryJSON {
	report := result.Report
	out := repositoryJSON{
		Repository: result.Repository, Key: report.Repository, Name: report.Name,
		Failed: result.Failed(), State: report.Unusable,
		Errors: []troubleJSON{}, Environments: []decisionJSON{}, Acts: []actJSON{},
	}
	if came := result.Onboarding; came != nil {
		out.Onboarding = &onboardingJSON{came.State, came.Reason, came.Number, came.URL, came.Commit, came.Config}
	}
	if result.Err != nil {
		out.Errors = append(out.Errors, troubleToJSON("", result.Err))
	}
	for _, trouble := range report.Errors {
		out.Errors = append(out.Errors, troubleToJSON(trouble.What, trouble.Err))
	}
	for _, decision := range report.Decisions {
		if wanted == nil || wanted(decision.Target) {
			out.Environments = append(out.Environments, decisionToJSON(decision))
		}
	}
	for _, done := range report.Effects {
		if concerns(done, wanted) {
			out.Acts = append(out.Acts, actToJSON(done))
		}
	}
	return out
}

func troubleToJSON(what string, err error) troubleJSON {
	return troubleJSON{What: what, Kind: fault.KindOf(err), Message: err.Error()}
}

func decisionToJSON(d promotion.Decision) decisionJSON {
	out := decisionJSON{
		Name: d.Environment, Application: d.Application, Snapshot: d.Snapshot.ID(), State: d.State,
		Rule: d.Reason.Rule, Reason: d.Reason.String(), Moves: []moveJSON{},
		Conditions: list(d.Conditions), Gates: list(d.Gates),
	}
	for _, move := range d.Moves {
		out.Moves = append(out.Moves, moveJSON{move.Component, versionOfMove(move.From), versionOfMove(move.To)})
	}
	return out
}

func versionOfMove(v image.Version) versionInMove { return versionInMove{Tag: v.Tag, Digest: v.Digest} }

func actToJSON(done engine.Effect) actJSON {
	out := actJSON{
		Environment: done.Environment.Name, Applications: []string{}, Act: done.Action, Step: done.Step,
		Reason: done.Reason.String(), Promotions: list(done.Promotions), Branch: done.Head, Number: done.Number, URL: done.URL,
		Commit: done.Commit, Land: done.Land, Gates: list(done.Gates),
	}
	for _, decision := range done.Decisions {
		out.Applications = append(out.Applications, decision.Application)
	}
	if done.Err != nil {
		trouble := troubleToJSON("", done.Err)
		out.Error = &trouble
	}
	return out
}
