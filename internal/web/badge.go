package web

import (
	"bytes"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/printable"
	"promoter/internal/view"
)

// badgePath is the path of badges: images for pages that show no dashboard, such as a README.
const badgePath = "/badges/:token/:application"

// badgeSuffix is the end of the path of a badge.
const badgeSuffix = ".svg"

// badges answers with badges. Their tokens are in URLs, which anyone who reads such a page knows,
// so they are good for nothing else, and no other token is good for badges.
type badges struct {
	tokens access.Tokens
	view   *view.View
	image  *template.Template
}

// badgeState is an environment in a badge.
type badgeState struct{ Environment, Version, State string }

// serve answers with what is in the environments of an application or, with a version, where that
// is.
func (b *badges) serve(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	body, err := b.draw(c)
	if err != nil {
		header.Set(echo.HeaderCacheControl, "no-store")
		return c.String(api.StatusOf(err), api.PublicMessage(err)+"\n")
	}
	return api.Blob(c, "image/svg+xml", "public, max-age=60", body)
}

func (b *badges) draw(c echo.Context) ([]byte, error) {
	principal, known := b.tokens.Find(c.Param("token"))
	if !known {
		return nil, fault.New(fault.NotFound, "there is no such badge")
	}
	given, err := api.Parameters(c, "repository", "environment", "version")
	if err != nil {
		return nil, err
	}
	file, err := api.PathParameter(c, "application")
	if err != nil {
		return nil, err
	}
	application, isImage := strings.CutSuffix(file, badgeSuffix)
	if !isImage {
		return nil, fault.New(fault.NotFound, "there is no such badge: write APPLICATION%s", badgeSuffix)
	}
	found, err := b.view.Application(c.Request().Context(), principal, given["repository"], application)
	if err != nil {
		return nil, err
	}
	label, states := application, statesOf(found)
	if version := given["version"]; version != "" {
		label, states, err = b.locate(c, principal, found, version)
		if err != nil {
			return nil, err
		}
	}
	if environment := given["environment"]; environment != "" {
		states = slices.DeleteFunc(states, func(one badgeState) bool { return one.Environment != environment })
	}
	if len(states) == 0 {
		return nil, fault.New(fault.NotFound, "%s has no environment %.200q", found.Application, given["environment"])
	}
	var text bytes.Buffer
	if err := b.image.Execute(&text, badgeOf(label, states)); err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	return text.Bytes(), nil
}

func statesOf(found view.Application) (states []badgeState) {
	for _, target := range found.Targets {
		states = append(states, badgeState{target.Environment, versionOf(target.Components), string(target.Status)})
	}
	return states
}

// locate returns where a version of an application is, with its label.
func (b *badges) locate(
	c echo.Context, principal access.Principal, of view.Application, text string,
) (label string, states []badgeState, err error) {
	found, err := b.view.Where(c.Request().Context(), principal, text)
	if err != nil {
		return "", nil, err
	}
	for _, version := range found.Versions {
		if version.Key != of.Key || version.Application != of.Application {
			continue
		}
		for _, place := range version.Places {
			states = append(states, badgeState{Environment: place.Environment, State: string(place.State)})
		}
		return version.Component + " " + version.Version, states, nil
	}
	return "", nil, fault.New(fault.NotFound, "%s has, had, and waits for no version %.200q", of.Application, text)
}

// badgeImage is the drawing: a row of texts.
type badgeImage struct {
	Title string
	Width int
	Parts []badgePart
}

type badgePart struct {
	Text               string
	Color              string // of the ground; the text is white
	X, Width           int
	TextX, LetterWidth int
}

// Sizes of the drawing. The width of letters is that of common fonts: the drawing stretches the
// text to it, so that no font has to be known.
const (
	maxBadgeStates = 12
	badgeLetters   = 50 // of one text
	badgePadding   = 7
	tenthsOfLetter = 63 // pixels, by ten
)

func badgeOf(label string, states []badgeState) badgeImage {
	const labelColor = "#3b434d"
	image := badgeImage{Title: label + ":"}
	add := func(text, color string) {
		text = printable.ShortLine(text, badgeLetters)
		letters := utf8.RuneCountInString(text) * tenthsOfLetter / 10
		width := letters + 2*badgePadding
		image.Parts = append(image.Parts, badgePart{text, color, image.Width, width, image.Width + badgePadding, letters})
		image.Width += width
	}
	add(label, labelColor)
	for i, one := range states {
		if i == maxBadgeStates {
			add("…", labelColor)
			break
		}
		text := strings.Join(strings.Fields(one.Environment+" "+one.Version+" "+one.State), " ")
		add(text, badgeColor(one.State))
		image.Title += " " + printable.ShortLine(text, badgeLetters) + ","
	}
	image.Title = strings.TrimSuffix(image.Title, ",")
	return image
}

// badgeColor returns the color of a state: white text has enough contrast on each.
func badgeColor(state string) string {
	switch classOf(state) {
	case "bad":
		return "#a3161f"
	case "warn":
		return "#7a4b00"
	case "busy":
		return "#0b57a4"
	case "good":
		return "#1a6335"
	}
	return "#4d5560"
}

// route adds the route, if there are tokens.
func (b *badges) route(e *echo.Echo) error {
	if len(b.tokens) == 0 {
		return nil
	}
	image, err := template.ParseFS(files, "templates/badge.svg")
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	b.image = image
	e.Match([]string{http.MethodGet, http.MethodHead}, badgePath, b.serve)
	return nil
}
