package web

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/printable"
	"promoter/internal/promotion"
	"promoter/internal/schedule"
	"promoter/internal/verb"
	"promoter/internal/view"
)

// decideBody is the page of a verb. It is a page of its own and is not read again: an update
// would remove what a user writes.
type decideBody struct {
	question
	Verb        verb.Verb
	Name        string // what the decision is about
	Application view.Application
	Target      view.Target
	URL, Back   string
	Given       answers
	Error       string
}

// answers are what a user wrote on the page of a verb.
type answers struct {
	Reason, Versions, To, Until string
	For                         map[string]string // the images that the page showed as waiting, by component
	Wide, Confirmed, Downstream bool
}

// answersOf reads a form.
func answersOf(form url.Values) answers {
	text := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	waiting := map[string]string{}
	for _, shown := range form["for"] {
		if component, image, found := strings.Cut(shown, "="); found {
			waiting[component] = image
		}
	}
	return answers{
		For: waiting, Reason: text("reason"), Versions: text("versions"), To: text("to"), Until: text("until"),
		Wide: form.Has("wide"), Confirmed: form.Has("confirmed"), Downstream: form.Has("downstream"),
	}
}

// showDecide shows the page of a verb.
func (p *pages) showDecide(c echo.Context) error {
	body, err := p.readDecide(c)
	if err != nil {
		return err
	}
	if body.NeedVersions {
		body.Given.Versions = wantedImages(body.Target)
	}
	return p.writeDecide(c, http.StatusOK, body)
}

// decide records a decision, and shows its result on the page of the application. After an
// error, it shows the form again with what the user wrote.
func (p *pages) decide(c echo.Context) error {
	session, _ := c.Get(sessionKey).(access.Session)
	if err := p.Sessions.VerifyCSRF(c.Request(), session); err != nil {
		return err
	}
	body, err := p.readDecide(c)
	if err != nil {
		return err
	}
	if err := c.Request().ParseForm(); err != nil {
		return fault.New(fault.Invalid, "the form cannot be read: %w", err)
	}
	body.Given = answersOf(c.Request().PostForm)
	if err := p.record(c, body); err != nil {
		var status int
		status, body.Error = p.messageOf(c, err, "it is not known whether the decision was recorded: read the history, or try again; "+
			"the log of the service has the reason")
		return p.writeDecide(c, status, body)
	}
	return c.Redirect(http.StatusSeeOther, body.Back)
}

// record records what the user decides on a page, and keeps the result for the next one.
func (p *pages) record(c echo.Context, body decideBody) error {
	request, err := body.decision(p.Now())
	if err != nil {
		return err
	}
	decided, err := p.Decisions.Decide(c.Request().Context(), principalOf(c), request)
	if err != nil {
		return err
	}
	p.keepOutcome(c, outcome{
		Key: body.Application.Key, Application: body.Application.Application, By: decided.By.Login,
		Subject: decided.Subject, Effects: decided.Effects, Unchanged: decided.Unchanged,
	})
	return nil
}

func (p *pages) writeDecide(c echo.Context, status int, body decideBody) error {
	return p.write(c, status, "decide", page{Title: body.Verb.Title() + " " + body.Name, Body: body})
}

// readDecide returns the page of the verb that the URL names, if the principal may use it.
func (p *pages) readDecide(c echo.Context) (body decideBody, err error) {
	given, err := api.Parameters(c, "repository", "environment", "verb")
	if err != nil {
		return body, err
	}
	name, err := api.PathParameter(c, "application")
	if err != nil {
		return body, err
	}
	what, by := verb.Verb(given["verb"]), principalOf(c)
	if !slices.Contains(verb.Decisions(), what) {
		return body, fault.New(fault.Invalid, "%.50q is no verb of a decision", given["verb"])
	}
	found, err := p.View.Application(c.Request().Context(), by, given["repository"], name)
	if err != nil {
		return body, err
	}
	i := slices.IndexFunc(found.Targets, func(t view.Target) bool { return t.Environment == given["environment"] })
	if i < 0 {
		return body, fault.New(fault.NotFound, "%s has no environment %.200q", name, given["environment"])
	}
	target := found.Targets[i]
	about := promotion.Target{Environment: target.Environment, Application: name}
	if !hasLogin(by) || !mayDecide(by, what, found.Repository, about) {
		return body, api.Forbidden(whyNotDecide(by))
	}
	body = decideBody{
		question: questionOf(by, what, found, target), Verb: what, Name: about.Name(), Application: found, Target: target,
		URL: decideURL(found.Repository, about, what), Back: applicationURL(found.Repository, name),
	}
	if ofEnvironment(what) {
		body.Name = target.Environment
	}
	return body, nil
}

// decision returns what the user decides, or what is missing.
func (b decideBody) decision(now time.Time) (api.Decision, error) {
	request := api.Decision{
		Repository: b.Application.Key, Environment: b.Target.Environment, Application: b.Application.Application,
		Verb: b.Verb, Reason: b.Given.Reason,
	}
	if b.Given.Reason == "" {
		return request, fault.New(fault.Invalid, "write a reason: it is shown with the decision")
	}
	if b.Confirm != "" && !b.Given.Confirmed {
		return request, fault.New(fault.Invalid, "confirm it: select %q", b.Confirm)
	}
	if ofEnvironment(b.Verb) {
		request.Application = ""
	}
	if b.Wide != "" && b.Given.Wide {
		request.Environment, request.All = "", true
	}
	switch versions := strings.Fields(b.Given.Versions); b.Verb {
	case verb.Promote:
		request.With = versions
		if len(versions) == 0 {
			request.For = b.Given.For
		}
	case verb.Reject, verb.Unreject:
		request.Images = versions
		if len(versions) == 0 {
			return request, fault.New(fault.Invalid, "write which versions to %s, such as web:1.4.2", b.Verb)
		}
	case verb.Rollback:
		request.To, request.Downstream = b.Given.To, b.Given.Downstream
	case verb.Freeze:
		until, err := schedule.ParseEnd(b.Given.Until, now)
		if err != nil {
			return request, fault.New(fault.Invalid, "until: %w", err)
		}
		request.Until = until
	}
	return request, nil
}

// wantedImages returns the versions that a target should get, one in each line.
func wantedImages(target view.Target) string {
	var images []string
	for _, component := range target.Components {
		if component.Wanted != "" {
			images = append(images, component.Wanted)
		}
	}
	return strings.Join(images, "\n")
}

// outcome is the result of a decision. A signed cookie brings it to the next page, so that no
// URL can show a result that did not happen.
type outcome struct {
	Key, Application string
	By, Subject      string
	Effects          []string
	Unchanged        bool
	At               time.Time
}

const (
	outcomeCookie = "promoter-decided"
	outcomeAge    = time.Minute
	maxEffect     = 300 // characters
)

// keepOutcome stores a result. Of a long list, it keeps what a cookie has room for.
func (p *pages) keepOutcome(c echo.Context, result outcome) {
	result.At = p.Sessions.Now().UTC()
	result.Subject = printable.ShortLine(result.Subject, maxEffect)
	for i, effect := range result.Effects {
		result.Effects[i] = printable.ShortLine(effect, maxEffect)
	}
	for p.Sessions.SetCookie(c.Response(), c.Request(), outcomeCookie, result, result.At.Add(outcomeAge)) != nil {
		if len(result.Effects) == 0 {
			p.Log.WarnContext(c.Request().Context(), "result of a decision not shown", slog.String("subject", result.Subject))
			return
		}
		result.Effects = result.Effects[:len(result.Effects)-1]
	}
}

// takeOutcome returns the result that the page of an application shows once; nil: there is none.
func (p *pages) takeOutcome(c echo.Context, found view.Application) *outcome {
	var result outcome
	if !p.Sessions.Cookie(c.Request(), outcomeCookie, &result) {
		return nil
	}
	p.Sessions.ClearCookie(c.Response(), c.Request(), outcomeCookie)
	if result.Key != found.Key || result.Application != found.Application || p.Sessions.Now().Sub(result.At) > outcomeAge {
		return nil
	}
	return &result
}
