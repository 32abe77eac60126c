package notify

import (
	"context"
	"net/http"

	"promoter/internal/secret"
)

// teams sends Adaptive Cards to a workflow of Microsoft Teams, which cannot update them.
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
type teams struct {
	poster poster
	url    secret.String
}

// NewTeams returns the sender of a channel or chat of Microsoft Teams.
func NewTeams(transport http.RoundTripper, url secret.String) Sender {
	return teams{newPoster("Teams", transport, url), url}
}

// Mode implements Sender.
func (teams) Mode() Mode { return Announced }

type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string       `json:"contentType"`
	Content     adaptiveCard `json:"content"`
}

// adaptiveCard is a card of which all text is in text runs: other elements read Markdown.
// https://adaptivecards.microsoft.com/?topic=TextRun
type adaptiveCard struct {
	Schema  string       `json:"$schema"`
	Type    string       `json:"type"`
	Version string       `json:"version"`
	Body    []richText   `json:"body"`
	Actions []cardAction `json:"actions,omitempty"`
}

type richText struct {
	Type    string    `json:"type"`
	Inlines []textRun `json:"inlines"`
}

type textRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
}

type cardAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Send implements Sender.
func (t teams) Send(ctx context.Context, m Message, _ Receipt) (Receipt, error) {
	card := adaptiveCard{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4"}
	add := func(runs ...textRun) {
		card.Body = append(card.Body, richText{Type: "RichTextBlock", Inlines: runs})
	}
	add(textRun{Type: "TextRun", Text: headlineOf(m).String(), Weight: "bolder"})
	for _, f := range facts(m, false) {
		add(textRun{Type: "TextRun", Text: f.name + ": "}, textRun{Type: "TextRun", Text: f.value})
	}
	for _, l := range links(m) {
		card.Actions = append(card.Actions, cardAction{Type: "Action.OpenUrl", Title: l.text, URL: l.url})
	}
	_, err := t.poster.send(ctx, http.MethodPost, t.url.Reveal(), nil, teamsMessage{
		Type: "message", Attachments: []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}},
	})
	return Receipt{}, err
}

// Check implements Sender.
func (t teams) Check(context.Context) (string, error) { return checkSecretURL("Teams", t.url) }
