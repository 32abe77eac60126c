package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/view"
)

// wherePath is the path of the search for versions.
const wherePath = "/where"

// whereBody is where the versions are that a text selects.
type whereBody struct {
	view.Where
	Versions []locatedVersion
}

type locatedVersion struct {
	view.VersionLocation
	URL    string // of the application
	Graph  graph
	Places []locatedPlace
}

type locatedPlace struct {
	view.Place
	Anchor string
}

// where shows where a version is on its way through the environments.
func (p *pages) where(c echo.Context) error {
	given, err := api.Parameters(c, "q")
	if err != nil {
		return err
	}
	shown := page{Title: "Where is it?", Live: true, Find: strings.TrimSpace(given["q"])}
	if shown.Find == "" {
		return p.write(c, http.StatusOK, "where", shown)
	}
	found, err := p.View.Where(c.Request().Context(), principalOf(c), shown.Find)
	if err != nil {
		return err
	}
	shown.Title = "Where is " + shown.Find + "?"
	shown.Body = whereOf(found)
	return p.write(c, http.StatusOK, "where", shown)
}

func whereOf(found view.Where) whereBody {
	body := whereBody{Where: found}
	for i, version := range found.Versions {
		located := locatedVersion{VersionLocation: version, URL: applicationURL(version.Repository, version.Application)}
		nodes := make([]graphNode, 0, len(version.Places))
		for k, place := range version.Places {
			one := locatedPlace{place, fmt.Sprintf("version-%d-%d", i+1, k+1)}
			has := place.Has
			if place.State == view.IsThere {
				has = version.Version
			}
			nodes = append(nodes, graphNode{
				Environment: place.Environment, After: place.After, Version: has, Status: string(place.State), Anchor: one.Anchor,
			})
			located.Places = append(located.Places, one)
		}
		located.Graph = graphOf(nodes)
		body.Versions = append(body.Versions, located)
	}
	return body
}
