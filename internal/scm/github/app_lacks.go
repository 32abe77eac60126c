package github

import (
	"context"
	"slices"
)

// Lacks is what an App does not have of what promoter needs of one, whatever its
// installations accepted.
type Lacks struct {
	App       string       // its slug
	At        string       // the page on which its owner adds what is missing
	Always    []Permission // that promoter never works without
	Sometimes []Permission // see their Optional
	Events    []string     // that it may subscribe to as it is
}

// Lacks compares what the App asks for, and what it subscribes to, with the tables.
func (a *App) Lacks(ctx context.Context) (Lacks, error) {
	told, err := a.ask(ctx)
	if err != nil {
		return Lacks{}, err
	}
	lacks := Lacks{App: told.Slug, At: a.permissionsURL(told)}
	var held []Permission // with any access: that is enough to subscribe
	for _, p := range Permissions() {
		if accessRank(told.Permissions[p.Name]) >= 0 {
			held = append(held, p)
		}
		switch {
		case told.Permissions.Grants(p) || p.OnRequest:
		case p.Optional != "":
			lacks.Sometimes = append(lacks.Sometimes, p)
		default:
			lacks.Always = append(lacks.Always, p)
		}
	}
	for _, event := range EventsOf(held) {
		if !slices.Contains(told.Events, event) {
			lacks.Events = append(lacks.Events, event)
		}
	}
	return lacks, nil
}
