package notify

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// discord sends to a webhook of a Discord channel, which can update its messages.
// https://discord.com/developers/docs/resources/webhook#execute-webhook
type discord struct {
	poster poster
	url    secret.String
}

// NewDiscord returns the sender of a Discord channel.
func NewDiscord(transport http.RoundTripper, url secret.String) Sender {
	return discord{newPoster("Discord", transport, url), url}
}

// Mode implements Sender.
func (discord) Mode() Mode { return Updated }

type discordMessage struct {
	Content         string          `json:"content"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
	Flags           int             `json:"flags,omitempty"`
}

// discordMentions lists the kinds of mentions that notify users: none.
type discordMentions struct {
	Parse []string `json:"parse"`
}

// toDiscord is the address of receipts. The URL of the webhook is a secret, and Discord finds a message only
// with the URL that sent it.
const toDiscord = "discord"

// suppressEmbeds is the flag for no previews of links.
const suppressEmbeds = 1 << 2

// Send implements Sender.
func (d discord) Send(ctx context.Context, m Message, sent Receipt) (Receipt, error) {
	body := discordMessage{Content: markdown.format(m, true), AllowedMentions: discordMentions{Parse: []string{}}, Flags: suppressEmbeds}
	if sent.ID != "" && sent.To == toDiscord {
		address, err := d.address("/messages/"+url.PathEscape(sent.ID), nil)
		if err != nil {
			return sent, err
		}
		_, err = d.poster.send(ctx, http.MethodPatch, address, nil, body)
		if fault.KindOf(err) != fault.NotFound { // else a user deleted it
			return sent, err
		}
	}
	address, err := d.address("", url.Values{"wait": {"true"}})
	if err != nil {
		return sent, err
	}
	data, err := d.poster.send(ctx, http.MethodPost, address, nil, body)
	if err != nil {
		return Receipt{}, err
	}
	var created struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(data, &created); err != nil || created.ID == "" {
		return Receipt{}, nil //nolint:nilerr // it was sent, and cannot be updated
	}
	return Receipt{ID: created.ID, To: toDiscord}, nil
}

// Check implements Sender: a webhook can be read with its own URL.
func (d discord) Check(ctx context.Context) (string, error) {
	address, err := d.address("", nil)
	if err != nil {
		return "", err
	}
	if _, err := d.poster.send(ctx, http.MethodGet, address, nil, nil); err != nil {
		return "", err
	}
	return "Discord knows the webhook", nil
}

// address returns the URL of the webhook with more of a path and a query. A thread_id of the
// configured URL is kept.
func (d discord) address(path string, query url.Values) (string, error) {
	u, err := url.Parse(d.url.Reveal())
	if err != nil {
		return "", fault.New(fault.Invalid, "Discord: the secret is not a URL")
	}
	u = u.JoinPath(path)
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery = all.Encode()
	return u.String(), nil
}
