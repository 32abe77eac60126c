package notify

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// MattermostOptions are a Mattermost channel: Server with Token and Channel, or URL.
type MattermostOptions struct {
	Transport http.RoundTripper
	Server    string // without a slash at the end
	Token     secret.String
	Channel   string
	URL       secret.String // of an incoming webhook
}

// mattermost sends to a Mattermost channel.
// https://developers.mattermost.com/api-documentation/#/operations/CreatePost
// https://developers.mattermost.com/integrate/webhooks/incoming/
type mattermost struct {
	poster  poster
	options MattermostOptions
}

// NewMattermost returns the sender of a Mattermost channel.
func NewMattermost(o MattermostOptions) Sender {
	return mattermost{newPoster("Mattermost", o.Transport, o.Token, o.URL), o}
}

// Mode implements Sender: an incoming webhook cannot update what it sent.
func (s mattermost) Mode() Mode {
	if s.options.Token.IsZero() {
		return Announced
	}
	return Updated
}

type mattermostPost struct {
	ID        string `json:"id,omitempty"`
	ChannelID string `json:"channel_id,omitempty"`
	Message   string `json:"message"`
}

// Send implements Sender.
func (s mattermost) Send(ctx context.Context, m Message, sent Receipt) (Receipt, error) {
	text := markdown.format(m, s.Mode() == Updated)
	if s.Mode() == Announced {
		_, err := s.poster.send(ctx, http.MethodPost, s.options.URL.Reveal(), nil, map[string]string{"text": text})
		return Receipt{}, err
	}
	to := s.options.Server + " " + s.options.Channel
	if sent.ID != "" && sent.To == to {
		_, err := s.call(ctx, http.MethodPut, "/posts/"+url.PathEscape(sent.ID), mattermostPost{ID: sent.ID, Message: text})
		if fault.KindOf(err) != fault.NotFound { // else a user deleted it
			return sent, err
		}
	}
	data, err := s.call(ctx, http.MethodPost, "/posts", mattermostPost{ChannelID: s.options.Channel, Message: text})
	if err != nil {
		return Receipt{}, err
	}
	var created mattermostPost
	if err := json.Unmarshal(data, &created); err != nil {
		return Receipt{}, nil //nolint:nilerr // it was sent, and cannot be updated
	}
	return Receipt{ID: created.ID, To: to}, nil
}

// Check implements Sender.
func (s mattermost) Check(ctx context.Context) (string, error) {
	if s.Mode() == Announced {
		return checkSecretURL("Mattermost", s.options.URL)
	}
	_, err := s.call(ctx, http.MethodGet, "/channels/"+url.PathEscape(s.options.Channel), nil)
	return "Mattermost shows the channel to the bot", err
}

func (s mattermost) call(ctx context.Context, method, path string, body any) ([]byte, error) {
	header := http.Header{"Authorization": {"Bearer " + s.options.Token.Reveal()}}
	return s.poster.send(ctx, method, s.options.Server+"/api/v4"+path, header, body)
}
