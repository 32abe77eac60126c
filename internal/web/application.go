package web

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/view"
)

// applicationBody is one application with its environments.
type applicationBody struct {
	view.Application
	Graph      graph
	Targets    []targetBody
	HistoryURL string
}

type targetBody struct {
	view.Target
	Anchor string
	Checks []check
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
		Application: found, Graph: graphOf(found.Targets),
		HistoryURL: pathWith("/history", map[string]string{"repository": found.Repository, "application": found.Application}),
	}
	for i, target := range found.Targets {
		one := targetBody{Target: target, Anchor: anchor(i)}
		for _, condition := range target.Conditions {
			one.Checks = append(one.Checks, check{"condition", condition})
		}
		for _, gate := range target.Gates {
			one.Checks = append(one.Checks, check{"gate", gate})
		}
		body.Targets = append(body.Targets, one)
	}
	return p.write(c, http.StatusOK, "application", page{Title: found.Application, Live: true, Repository: found.Repository, Body: body})
}

// graph is the drawing of the environments: those without a parent on the left.
type graph struct {
	Width, Height int
	Nodes         []node
	Edges         []edge
}

type node struct {
	X, Y                         int
	Name, Version, Status, Class string
	Anchor                       string // of the section about it
}

// edge is a line between the right side of a parent and the left side of a child.
type edge struct{ FromX, FromY, ToX, ToY, MiddleX int }

// Sizes of the drawing, as in style.css.
const (
	nodeWidth  = 190
	nodeHeight = 70
	gapX       = 60
	gapY       = 16
	margin     = 4
	// nodeLetters is the number of letters that fit in a node.
	nodeLetters = 24
)

// graphOf places each environment to the right of its parents.
func graphOf(targets []view.Target) graph {
	column := make(map[string]int, len(targets))
	for _, target := range targets {
		column[target.Environment] = 0
	}
	// Parents are before their children, except where the config has changed since.
	for range targets {
		for _, target := range targets {
			for _, parent := range target.After {
				if at, known := column[parent]; known && at < len(targets) && parent != target.Environment {
					column[target.Environment] = min(max(column[target.Environment], at+1), len(targets))
				}
			}
		}
	}
	drawn := graph{}
	places, rows := map[string]node{}, map[int]int{}
	for i, target := range targets {
		x, y := column[target.Environment], rows[column[target.Environment]]
		rows[column[target.Environment]]++
		one := node{
			X: margin + x*(nodeWidth+gapX), Y: margin + y*(nodeHeight+gapY), Name: short(target.Environment), Version: short(versionOf(target.Components)),
			Status: string(target.Status), Class: classOf(string(target.Status)), Anchor: anchor(i),
		}
		places[target.Environment] = one
		drawn.Nodes = append(drawn.Nodes, one)
		drawn.Width, drawn.Height = max(drawn.Width, one.X+nodeWidth+margin), max(drawn.Height, one.Y+nodeHeight+margin)
	}
	for _, target := range targets {
		to := places[target.Environment]
		for _, parent := range target.After {
			if from, known := places[parent]; known {
				drawn.Edges = append(drawn.Edges, edge{
					FromX: from.X + nodeWidth, FromY: from.Y + nodeHeight/2, ToX: to.X, ToY: to.Y + nodeHeight/2, MiddleX: (from.X + nodeWidth + to.X) / 2,
				})
			}
		}
	}
	return drawn
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

func short(text string) string { return printable.ShortLine(text, nodeLetters) }

func anchor(i int) string { return "environment-" + strconv.Itoa(i+1) }
