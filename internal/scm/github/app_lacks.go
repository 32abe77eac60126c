package github

import (
	"context"
	"slices"
)

// Lacks lists the permissions and events that promoter needs and that an App does not
// request, whatever its installations accepted.
type Lacks struct {
	App       string       // its slug
	At        string       // page on which its owner adds what is missing
	Always    []Permission // always required
	Sometimes []Permission // required in some cases, see their Optional
	Events    []string     // that its permissions allow
}

// Lacks compares the App's permissions and events with those that promoter needs.
func (a *App) Lacks(ctx context.Context) (Lacks, error) {
	told, err := a.ask(ctx)
	if err != nil {
		return Lacks{}, err
	}
	lacks := Lacks{App: told.Slug, At: a.permissionsURL(told)}
	var held []Permission // any access is enough to subscribe
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
