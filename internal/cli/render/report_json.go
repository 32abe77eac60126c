package render

import (
	"time"

	"promoter/internal/app"
	"promoter/internal/drift"
	"promoter/internal/explain"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
)

// runSchema is the version of the JSON format of run and explain, as planSchema is.
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
	Unfinished   bool                   `json:"unfinished,omitempty"`
	State        string                 `json:"state,omitempty"`
	Errors       []partialErrorJSON     `json:"errors"`
	Environments []environmentJSON      `json:"environments"`
	Actions      []actionJSON           `json:"actions"`
	Paths        []pathJSON             `json:"paths,omitempty"` // only of explain
	Drift        []drift.Drift          `json:"drift"`
	Onboarding   *onboarding.Result     `json:"onboarding,omitempty"`
}

// pathJSON is the path of a component from the registry to a target.
type pathJSON struct {
	Environment string       `json:"environment"`
	Application string       `json:"application"`
	Component   string       `json:"component"`
	Answer      string       `json:"answer,omitempty"`
	Advice      string       `json:"advice,omitempty"`
	Registry    registryJSON `json:"registry"`
	Steps       []stepJSON   `json:"steps"`
}

type registryJSON struct {
	Repository string          `json:"repository"`
	Selected   versionInMove   `json:"selected"`
	Reason     string          `json:"reason,omitempty"`
	Newer      []explain.Newer `json:"newer"`
}

type stepJSON struct {
	Environment string           `json:"environment"`
	State       promotion.State  `json:"state"`
	Versions    []versionInMove  `json:"versions"`
	Since       *time.Time       `json:"since,omitempty"`
	Commit      string           `json:"commit,omitempty"`
	PullRequest int              `json:"pullRequest,omitempty"`
	Next        *versionInMove   `json:"next,omitempty"`
	Open        int              `json:"open,omitempty"`
	Blocker     *explain.Blocker `json:"blocker,omitempty"`
	Newer       *versionInMove   `json:"newer,omitempty"`  // that waits behind what is open
	Behind      *explain.Blocker `json:"behind,omitempty"` // why it does
}

func pathToJSON(p explain.Path) pathJSON {
	registry := registryJSON{
		Repository: p.Registry.Repository, Selected: versionOfMove(p.Registry.Selected),
		Reason: p.Registry.Reason, Newer: List(p.Registry.Newer),
	}
	out := pathJSON{
		Environment: p.Environment, Application: p.Application, Component: p.Component,
		Answer: p.Answer, Advice: p.Advice, Registry: registry, Steps: []stepJSON{},
	}
	for _, s := range p.Steps {
		step := stepJSON{
			Environment: s.Environment, State: s.State, Versions: []versionInMove{},
			Since: utc(s.Since), Commit: s.Commit, PullRequest: s.Number, Open: s.Open, Blocker: s.Blocker, Behind: s.Behind,
		}
		for _, v := range s.Versions {
			step.Versions = append(step.Versions, versionOfMove(v))
		}
		if next := versionOfMove(s.Next); next != (versionInMove{}) {
			step.Next = &next
		}
		if newer := versionOfMove(s.Newer); newer != (versionInMove{}) {
			step.Newer = &newer
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

type partialErrorJSON struct {
	What    string     `json:"what,omitempty"`
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message"`
}

type environmentJSON struct {
	Name        string                `json:"name"`
	Application string                `json:"application"`
	Snapshot    string                `json:"snapshot"`
	State       promotion.State       `json:"state"`
	Rule        promotion.Rule        `json:"rule"`
	Reason      string                `json:"reason"`
	Notes       []noteJSON            `json:"notes"`
	Moves       []moveJSON            `json:"moves"`
	Conditions  []promotion.Condition `json:"conditions"`
	Gates       []promotion.Condition `json:"gates"`
}

type noteJSON struct {
	Rule    promotion.Rule `json:"rule"`
	Message string         `json:"message"`
	Until   *time.Time     `json:"until,omitempty"`
}

type moveJSON struct {
	Component string        `json:"component"`
	From      versionInMove `json:"from"`
	To        versionInMove `json:"to"`
	// Form is how the version is written if it stays the same.
	Form promotion.Form `json:"form,omitempty"`
}

type versionInMove struct {
	Tag    string `json:"tag,omitempty"`
	Digest string `json:"digest,omitempty"`
}

type actionJSON struct {
	Environment  string                `json:"environment"`
	Applications []string              `json:"applications"`
	Action       outcome.Action        `json:"action"`
	Step         propose.Step          `json:"step"`
	Reason       string                `json:"reason"`
	Promotions   []string              `json:"promotions"` // ids, by application
	Branch       string                `json:"branch,omitempty"`
	Number       int                   `json:"number,omitempty"`
	URL          string                `json:"url,omitempty"`
	Commit       string                `json:"commit,omitempty"`
	Land         bool                  `json:"land"`
	Planned      bool                  `json:"planned,omitempty"` // in a dry run: it would be pushed or merged
	After        []string              `json:"after,omitempty"`   // in a dry run: what would land first
	Gates        []promotion.Condition `json:"gates"`
	Error        *partialErrorJSON     `json:"error,omitempty"`
}

// ReportJSON converts results for programs. Lists are never null.
func ReportJSON(results []app.Result, wanted func(promotion.Target) bool) runJSON {
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
		Failed: result.Failed(), Unfinished: result.Unfinished, State: report.Unusable,
		Errors: []partialErrorJSON{}, Environments: []environmentJSON{}, Actions: []actionJSON{}, Drift: []drift.Drift{},
		Onboarding: result.Onboarding,
	}
	if result.Err != nil {
		out.Errors = append(out.Errors, partialErrorToJSON("", result.Err))
	}
	for _, partial := range report.Errors {
		out.Errors = append(out.Errors, partialErrorToJSON(partial.What, partial.Err))
	}
	for _, decision := range report.Decisions {
		if wanted == nil || wanted(decision.Target) {
			out.Environments = append(out.Environments, environmentToJSON(decision))
		}
	}
	for _, one := range report.Drift {
		if isWanted(one, wanted) {
			out.Drift = append(out.Drift, one)
		}
	}
	for _, path := range report.Paths {
		if wanted == nil || wanted(path.Target) {
			out.Paths = append(out.Paths, pathToJSON(path))
		}
	}
	for _, effect := range report.Effects {
		if isAbout(effect, wanted) {
			out.Actions = append(out.Actions, actionToJSON(effect))
		}
	}
	return out
}

func partialErrorToJSON(what string, err error) partialErrorJSON {
	return partialErrorJSON{What: what, Kind: fault.KindOf(err), Message: err.Error()}
}

func environmentToJSON(d promotion.Decision) environmentJSON {
	out := environmentJSON{
		Name: d.Environment, Application: d.Application, Snapshot: d.Snapshot.ID(),
		State: d.State, Rule: d.Reason.Rule, Reason: d.Reason.String(), Notes: []noteJSON{},
		Moves: movesToJSON(d.Moves), Conditions: List(d.Conditions), Gates: List(d.Gates),
	}
	for _, note := range d.Notes {
		out.Notes = append(out.Notes, noteJSON{Rule: note.Rule, Message: note.Message, Until: utc(note.Until)})
	}
	return out
}

func movesToJSON(moves []promotion.Move) []moveJSON {
	all := make([]moveJSON, len(moves))
	for i, move := range moves {
		all[i] = moveJSON{move.Component, versionOfMove(move.From), versionOfMove(move.To), move.Form}
	}
	return all
}

func versionOfMove(v image.Version) versionInMove { return versionInMove{Tag: v.Tag, Digest: v.Digest} }

func actionToJSON(effect outcome.Effect) actionJSON {
	out := actionJSON{
		Environment: effect.Environment.Name, Applications: []string{},
		Action: effect.Action, Step: effect.Step, Reason: effect.Reason.String(), Promotions: List(effect.Promotions),
		Branch: effect.Head, Number: effect.Number, URL: effect.URL, Commit: effect.Commit,
		Land: effect.Land, Planned: effect.Planned, After: effect.Follows, Gates: List(effect.Gates),
	}
	for _, decision := range effect.Decisions {
		out.Applications = append(out.Applications, decision.Application)
	}
	if effect.Err != nil {
		failure := partialErrorToJSON("", effect.Err)
		out.Error = &failure
	}
	return out
}
