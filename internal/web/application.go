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
		HistoryURL:  api.PathWith("/history", map[string]string{"repository": found.Repository, "application": found.Application}),
	}
	body.Outcome = p.takeOutcome(c, found)
	by := principalOf(c)
	session, _ := c.Get(sessionKey).(access.Session)
	decides := false
	nodes := make([]graphNode, 0, len(found.Targets))
	for i, target := range found.Targets {
		one := targetBody{Target: target, Anchor: "environment-" + strconv.Itoa(i+1)}
		nodes = append(nodes, graphNode{
			Environment: target.Environment, After: target.After, Anchor: one.Anchor,
			Version: versionOf(target.Components), Status: string(target.Status),
		})
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

// versionOf is the version of all components, or the first of several.
func versionOf(components []view.Component) string {
	if len(components) == 0 {
		return "no version"
	}
	first := components[0].Version
	if slices.ContainsFunc(components, func(one view.Component) bool { return one.Version != first }) {
		return first + " and others"
	}
	return first
}
