package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// slackAPI is the address of Slack's Web API.
const slackAPI = "https://slack.com/api"

// SlackOptions are a Slack channel: Token with Channel, or URL.
type SlackOptions struct {
	Transport http.RoundTripper
	Token     secret.String
	Channel   string
	URL       secret.String // of an incoming webhook
	API       string        // empty: Slack's
}

// slack sends to a Slack channel.
// https://docs.slack.dev/reference/methods/chat.postMessage
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
type slack struct {
	poster  poster
	options SlackOptions
}

// NewSlack returns the sender of a Slack channel.
func NewSlack(o SlackOptions) Sender {
	o.API = cmp.Or(o.API, slackAPI)
	return slack{newPoster("Slack", o.Transport, o.Token, o.URL), o}
}

// Mode implements Sender: an incoming webhook cannot update what it sent.
func (s slack) Mode() Mode {
	if s.options.Token.IsZero() {
		return Announced
	}
	return Updated
}

// mrkdwn is Slack's dialect. Only three characters are special to its parser. A section has at most
// 3,000 characters, escapes included.
// https://docs.slack.dev/messaging/formatting-message-text#escaping
// https://docs.slack.dev/reference/block-kit/blocks/section-block
var mrkdwn = dialect{
	most: 3000, size: utf8.RuneCountInString,
	bold: "*", bullet: "• ",
	code: func(text string) string { return "`" + slackEscape(strings.ReplaceAll(text, "`", "'")) + "`" },
	link: func(text, url string) string { return "<" + slackEscape(url) + "|" + slackEscape(text) + ">" },
}

func slackEscape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

type slackMessage struct {
	Channel     string       `json:"channel,omitempty"`
	TS          string       `json:"ts,omitempty"`
	Text        string       `json:"text"` // of notifications
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Verbatim turns off the detection of links and names.
	Verbatim bool `json:"verbatim"`
}

type slackAnswer struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Team    string `json:"team"`
	User    string `json:"user"`
}

// Send implements Sender.
func (s slack) Send(ctx context.Context, m Message, sent Receipt) (Receipt, error) {
	body := slackMessage{
		Text: slackEscape(headlineOf(m).String()),
		Blocks: []slackBlock{
			{Type: "section", Text: slackText{Type: "mrkdwn", Text: mrkdwn.format(m, s.Mode() == Updated), Verbatim: true}},
		},
	}
	if s.Mode() == Announced {
		_, err := s.poster.send(ctx, http.MethodPost, s.options.URL.Reveal(), nil, body)
		return Receipt{}, err
	}
	if sent.ID != "" && sent.To == s.options.Channel {
		body.Channel, body.TS = sent.Channel, sent.ID
		_, err := s.call(ctx, "chat.update", body)
		if fault.KindOf(err) != fault.NotFound { // else a user deleted it
			return sent, err
		}
	}
	body.Channel, body.TS = s.options.Channel, ""
	answer, err := s.call(ctx, "chat.postMessage", body)
	return Receipt{Channel: answer.Channel, ID: answer.TS, To: s.options.Channel}, err
}

// Check implements Sender.
func (s slack) Check(ctx context.Context) (string, error) {
	if s.Mode() == Announced {
		return checkSecretURL("Slack", s.options.URL)
	}
	answer, err := s.call(ctx, "auth.test", nil)
	return "Slack accepts the token of " + answer.User + " in " + answer.Team, err
}

// call calls a method of the Web API, which reports most errors with status 200.
func (s slack) call(ctx context.Context, method string, body any) (answer slackAnswer, err error) {
	header := http.Header{"Authorization": {"Bearer " + s.options.Token.Reveal()}, "Content-Type": {"application/json; charset=utf-8"}}
	data, err := s.poster.send(ctx, http.MethodPost, s.options.API+"/"+method, header, body)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return answer, fault.New(fault.Temporary, "Slack did not respond with JSON to %s", method)
	}
	if !answer.OK {
		return answer, fault.New(slackKind(answer.Error), "Slack refuses %s: %s", method, s.poster.clean(answer.Error))
	}
	return answer, nil
}

func slackKind(code string) fault.Kind {
	switch code {
	case "message_not_found", "cant_update_message", "edit_window_closed":
		return fault.NotFound
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited":
		return fault.Temporary
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "missing_scope", "not_in_channel":
		return fault.Unauthorized
	}
	return fault.Invalid
}
