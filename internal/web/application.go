package web

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/promotion"
	"promoter/internal/view"
)

// applicationBody is one application with its environments.
type applicationBody struct {
	view.Application
	Graph      graph
	Targets    []targetBody
	HistoryURL string
	Outcome    *outcome // of the decision that led here
	// NoDecision is why a user who has signed in may not decide; empty: the targets have links.
	NoDecision string
}

type targetBody struct {
	view.Target
	Anchor string
	Checks []check
	Verbs  []verbLink
}

// check is a condition or a gate.
type check struct {
	Kind string
	promotion.Condition
}

// application shows one application.
func (p *pages) application(c echo.Context) error {
	given, err := api.Parameters(c, "repository")
	if err != nil {
		return err
	}
	name, err := api.PathParameter(c, "application")
	if err != nil {
		return err
	}
	found, err := p.View.Application(c.Request().Context(), principalOf(c), given["repository"], name)
	if err != nil {
		return err
	}
	body := applicationBody{
		Application: found,
		HistoryURL:  pathWith("/history", map[string]string{"repository": found.Repository, "application": found.Application}),
	}
	body.Outcome = p.takeOutcome(c, found)
	by := principalOf(c)
	session, _ := c.Get(sessionKey).(access.Session)
	decides := false
	nodes := make([]graphNode, 0, len(found.Targets))
	for i, target := range found.Targets {
		nodes = append(nodes, graphNode{
			Environment: target.Environment, After: target.After, Version: versionOf(target.Components), Status: string(target.Status), Anchor: anchor(i),
		})
		one := targetBody{Target: target, Anchor: anchor(i)}
		for _, condition := range target.Conditions {
			one.Checks = append(one.Checks, check{"condition", condition})
		}
		for _, gate := range target.Gates {
			one.Checks = append(one.Checks, check{"gate", gate})
		}
		if session.SignedIn() && hasLogin(by) {
			one.Verbs = verbLinks(by, found, target)
		}
		decides = decides || len(one.Verbs) > 0
		body.Targets = append(body.Targets, one)
	}
	if session.SignedIn() && !decides {
		body.NoDecision = whyNotDecide(by)
	}
	body.Graph = graphOf(nodes)
	return p.write(c, http.StatusOK, "application", page{Title: found.Application, Live: true, Repository: found.Repository, Body: body})
}

// versionOf is the version of a single component, or how many versions there are.
func versionOf(components []view.Component) string {
	switch versions := distinctVersions(components); len(versions) {
	case 0:
		return "no version"
	case 1:
		return versions[0]
	default:
		return versions[0] + " and others"
	}
}

func distinctVersions(components []view.Component) []string {
	var versions []string
	for _, one := range components {
		if !slices.Contains(versions, one.Version) {
			versions = append(versions, one.Version)
		}
	}
	return versions
}

func anchor(i int) string { return "environment-" + strconv.Itoa(i+1) }
