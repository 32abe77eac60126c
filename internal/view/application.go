package view

import (
	"context"
	"slices"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/drift"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/store"
)

// Application is one application with all that is known about its environments.
type Application struct {
	Repository  string   `json:"repository"` // HOST/OWNER/NAME
	Key         string   `json:"key"`
	Application string   `json:"application"`
	Targets     []Target `json:"targets"` // in the order of the environments
}

// Target is one environment of an application. Unknown fields are omitted.
type Target struct {
	Environment string      `json:"environment"`
	Title       string      `json:"title,omitempty"` // display name of the environment
	After       []string    `json:"after"`           // the parent environments
	Branch      string      `json:"branch"`
	Paths       []string    `json:"paths,omitempty"`
	Propose     string      `json:"propose"`
	Land        string      `json:"land"`
	Status      Status      `json:"status"`
	State       string      `json:"state"` // of the decision
	Since       time.Time   `json:"since"` // since when it has the state for the same rule
	Reason      *Reason     `json:"reason,omitempty"`
	Components  []Component `json:"components"`
	Landed      *Landed     `json:"landed,omitempty"` // the newest landing
	// PullRequest is the open one.
	PullRequest *PullRequest          `json:"pullRequest,omitempty"`
	ApprovedBy  []string              `json:"approvedBy,omitempty"`
	Conditions  []promotion.Condition `json:"conditions"`
	Gates       []promotion.Condition `json:"gates"`
	Notes       []string              `json:"notes,omitempty"`
	Left        []string              `json:"left,omitempty"` // components that stay behind, and why
	Health      *store.TargetHealth   `json:"health,omitempty"`
	Hold        *store.TargetHold     `json:"hold,omitempty"`
	Request     *store.TargetRequest  `json:"request,omitempty"`
	Drift       []drift.Drift         `json:"drift,omitempty"`
	Sources     []store.SourceChange  `json:"sources,omitempty"` // what the open pull request brings
}

// Component is what one component is in the files, and what it should be.
type Component struct {
	Name    string `json:"name"`
	Image   string `json:"image"`            // in the files: REPOSITORY:TAG@DIGEST, as far as known
	Version string `json:"version"`          // its tag, else the first digits of its digest
	Wanted  string `json:"wanted,omitempty"` // the image, if another one is wanted
	Next    string `json:"next,omitempty"`   // the version of that
}

// Landed is the newest landing.
type Landed struct {
	At          time.Time    `json:"at"`
	Commit      string       `json:"commit"`
	Snapshot    string       `json:"snapshot"` // its ID
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
}

// Application returns one application of a repository.
func (v *View) Application(ctx context.Context, p access.Principal, repository, application string) (Application, error) {
	key, name, err := v.repository(ctx, p, repository)
	if err != nil {
		return Application{}, err
	}
	found := Application{Repository: name, Key: key, Application: application, Targets: []Target{}}
	targets, err := v.Store.Targets.List(ctx, key, "", application)
	if err != nil {
		return found, err
	}
	landed, err := v.Store.Targets.Landed(ctx, key, application)
	if err != nil {
		return found, err
	}
	drifts, err := v.driftByTarget(ctx)
	if err != nil {
		return found, err
	}
	for _, t := range targets {
		if p.MayRead(name, t.Environment, t.Application) {
			one := targetOf(t, landed[t.Environment])
			one.Drift = drifts[store.TargetKey{Repository: key, Environment: t.Environment, Application: t.Application}]
			found.Targets = append(found.Targets, one)
		}
	}
	if len(found.Targets) == 0 || application == "" {
		return found, fault.New(fault.NotFound, "%s has no application %.200q, or was not reconciled yet", name, application)
	}
	return found, nil
}

func targetOf(t store.Target, landed store.Landed) Target {
	detail := t.Detail
	one := Target{
		Environment: t.Environment, Title: detail.Title, After: append([]string{}, t.After...), Branch: t.Branch, Paths: t.Paths,
		Propose: detail.Propose, Land: detail.Land,
		Status: statusOf(t.Row()), State: t.State, Since: t.Since, Reason: ReasonOf(t.Rule, t.Message, t.Until),
		Components: []Component{}, Notes: detail.Notes, Left: detail.Left, Sources: detail.Sources,
		PullRequest: PullRequestOf(t.Number, t.URL, detail.Opened), ApprovedBy: detail.ApprovedBy,
		Conditions: append([]promotion.Condition{}, detail.Conditions...),
		Gates:      append([]promotion.Condition{}, detail.Gates...),
		Health:     detail.Health, Hold: detail.Hold, Request: detail.Request,
	}
	for _, version := range t.Current {
		component := Component{Name: version.Component, Image: version.Image(), Version: version.Label()}
		i := slices.IndexFunc(t.Wanted, func(w store.EventVersion) bool { return w.Component == version.Component })
		if i >= 0 && t.Wanted[i].Image() != component.Image {
			component.Wanted, component.Next = t.Wanted[i].Image(), t.Wanted[i].Label()
		}
		one.Components = append(one.Components, component)
	}
	if !landed.At.IsZero() {
		pull := PullRequestOf(landed.Number, landed.URL, time.Time{})
		one.Landed = &Landed{At: landed.At, Commit: landed.Commit, Snapshot: landed.Snapshot, PullRequest: pull}
	}
	return one
}

// Short is a commit as users know it.
func (l Landed) Short() string {
	const digits = 7
	return strings.ToLower(l.Commit[:min(digits, len(l.Commit))])
}
