package notify_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// chat is a service as its documentation describes it: what it refuses, and what its readers see of
// a message beside texts that are shown as they are.
type chat struct {
	sender func(s *service) notify.Sender
	// refusal returns why the service refuses a body; empty: it does not.
	refusal func(body []byte) string
	// marked returns the part of a text in which the service finds mentions, links, and markup.
	marked func(t *testing.T, body []byte) string
	answer string // of success
}

func chats() map[string]chat {
	const token = "xoxb-the-token-of-the-app"
	return map[string]chat{
		"Slack": {
			func(s *service) notify.Sender {
				return notify.NewSlack(notify.SlackOptions{Transport: s.transport(), Token: secret.New(token), Channel: "C0", API: s.URL})
			},
			slackRefusal, slackMarked, `{"ok":true,"channel":"C1","ts":"17.42"}`,
		},
		"Slack, incoming webhook": {
			func(s *service) notify.Sender {
				return notify.NewSlack(notify.SlackOptions{Transport: s.transport(), URL: s.url("/services/T0/B0/thesecretofthewebhook")})
			},
			slackRefusal, slackMarked, "ok",
		},
		"Teams": {
			func(s *service) notify.Sender {
				return notify.NewTeams(s.transport(), s.url("/workflows/1?sig=secret-signature"))
			},
			teamsRefusal, teamsMarked, "1",
		},
		"Discord": {
			func(s *service) notify.Sender {
				return notify.NewDiscord(s.transport(), s.url("/api/webhooks/1/thesecrettoken"))
			},
			discordRefusal, discordMarked, `{"id":"998877"}`,
		},
		"Mattermost": {
			func(s *service) notify.Sender {
				return notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), Server: s.URL, Token: secret.New(token), Channel: "chan1"})
			},
			mattermostRefusal("message"), mattermostMarked("message"), `{"id":"post1"}`,
		},
		"Mattermost, incoming webhook": {
			func(s *service) notify.Sender {
				return notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), URL: s.url("/hooks/thesecrethook")})
			},
			mattermostRefusal("text"), mattermostMarked("text"), "ok",
		},
	}
}

type slackBody struct {
	Channel, Text string
	Blocks        []struct {
		Type string
		Text struct {
			Type, Text string
			Verbatim   bool
		}
	}
}

// slackRefusal applies the limits of blocks, in characters.
// https://docs.slack.dev/reference/block-kit/blocks/section-block
// https://docs.slack.dev/reference/methods/chat.postMessage#truncating
func slackRefusal(body []byte) string {
	const maxBlocks, maxSection, maxText = 50, 3000, 40_000
	var b slackBody
	switch err := json.Unmarshal(body, &b); {
	case err != nil:
		return "invalid_payload"
	case b.Text == "" || len(b.Text) > maxText:
		return "msg_too_long"
	case len(b.Blocks) > maxBlocks:
		return "invalid_blocks: too many"
	}
	for _, block := range b.Blocks {
		if n := len([]rune(block.Text.Text)); block.Type != "section" || block.Text.Type != "mrkdwn" || n == 0 || n > maxSection {
			return fmt.Sprintf("invalid_blocks: %d characters in a %s", n, block.Type)
		}
	}
	return ""
}

// slackMarked returns what Slack formats: a code span ends at the next backtick of its line, but what
// is in angle brackets counts everywhere.
// https://docs.slack.dev/messaging/formatting-message-text
func slackMarked(t *testing.T, body []byte) string {
	t.Helper()
	var b slackBody
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	marked := strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(b.Text, -1), " ")
	for _, block := range b.Blocks {
		if !block.Text.Verbatim {
			t.Error("Slack looks for links and names")
		}
		marked += "\n" + outsideSpans(t, block.Text.Text) + strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(block.Text.Text, -1), " ")
	}
	return marked
}

// teamsRefusal applies the limit of a message, in bytes, and the schema of the elements.
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#rate-limiting-for-connectors
// https://adaptivecards.io/explorer/
func teamsRefusal(body []byte) string {
	const maxMessage = 28 << 10
	if len(body) > maxMessage {
		return fmt.Sprintf("413: %d bytes", len(body))
	}
	var b teamsBody
	if err := json.Unmarshal(body, &b); err != nil || b.Type != "message" || len(b.Attachments) != 1 {
		return "400: not a message with a card"
	}
	for _, action := range b.Attachments[0].Content.Actions {
		if u, err := url.Parse(action.URL); err != nil || u.Scheme != "https" || action.Type != "Action.OpenUrl" || action.Title == "" {
			return "400: an action opens " + action.URL
		}
	}
	return ""
}

type teamsBody struct {
	Type        string
	Attachments []struct {
		Content struct {
			Body []struct {
				Type    string
				Inlines []struct{ Type, Text string }
			}
			Actions []struct{ Type, Title, URL string }
			MSTeams any `json:"msteams"`
		}
	}
}

// teamsMarked returns what Teams reads as Markdown, or as a mention: text outside of text runs, and
// entities.
func teamsMarked(t *testing.T, body []byte) string {
	t.Helper()
	var b teamsBody
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	content := b.Attachments[0].Content
	marked := ""
	for _, block := range content.Body {
		for _, run := range block.Inlines {
			if block.Type != "RichTextBlock" || run.Type != "TextRun" || strings.ContainsAny(run.Text, "\r\n") {
				marked += run.Text
			}
		}
	}
	if content.MSTeams != nil {
		marked += fmt.Sprint(content.MSTeams)
	}
	for _, action := range content.Actions {
		marked += "\n" + action.Title + " " + action.URL
	}
	return marked
}

// discordRefusal applies the limit of a content. JavaScript counts in UTF-16, and so do clients.
// https://discord.com/developers/docs/resources/webhook#execute-webhook
func discordRefusal(body []byte) string {
	const maxContent, suppressEmbeds = 2000, 4
	var b struct {
		Content         string
		AllowedMentions struct{ Parse []string } `json:"allowed_mentions"`
		Flags           int
	}
	switch err := json.Unmarshal(body, &b); {
	case err != nil:
		return "50109: not JSON"
	case b.Content == "":
		return "50006: empty message"
	case b.AllowedMentions.Parse == nil || len(b.AllowedMentions.Parse) > 0:
		return "mentions are allowed"
	case b.Flags != suppressEmbeds:
		return "embeds are shown"
	}
	if n := len(utf16.Encode([]rune(b.Content))); n > maxContent {
		return fmt.Sprintf("50035: content has %d characters", n)
	}
	return ""
}

func discordMarked(t *testing.T, body []byte) string {
	t.Helper()
	var b struct{ Content string }
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	return outsideSpans(t, b.Content)
}

// mattermostRefusal applies the limit of a post.
// https://developers.mattermost.com/integrate/webhooks/incoming/#tips-and-best-practices
func mattermostRefusal(field string) func([]byte) string {
	return func(body []byte) string {
		const maxPost = 16_383
		b := map[string]string{}
		if err := json.Unmarshal(body, &b); err != nil || b[field] == "" || len([]rune(b[field])) > maxPost {
			return "400: not a post"
		}
		return ""
	}
}

// mattermostMarked converts what Mattermost converts in incoming webhooks for programs that send to
// Slack, before it formats the text.
// https://developers.mattermost.com/integrate/webhooks/incoming/#slack-compatibility
func mattermostMarked(field string) func(*testing.T, []byte) string {
	links, announcements := regexp.MustCompile(`<([^<|]+)\|([^>]+)>`), regexp.MustCompile(`<!(channel|here|all)>`)
	return func(t *testing.T, body []byte) string {
		t.Helper()
		b := map[string]string{}
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		return outsideSpans(t, announcements.ReplaceAllString(links.ReplaceAllString(b[field], "[$2]($1)"), "@$1"))
	}
}

// outsideSpans returns what is not in code. Each span has one backtick on each side, ends on its line,
// and is not empty: two backticks begin a span that ends at the next two.
func outsideSpans(t *testing.T, text string) string {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "``") || strings.Count(line, "`")%2 != 0 {
			t.Errorf("spans of code do not end: %s", line)
		}
	}
	return outsideCode(text)
}

// hostile are texts of users: mentions, links, markup, ends of formats, and sizes.
func hostile() map[string]string {
	return map[string]string{
		"a mention of a channel in Slack":    "<!channel> <!here> <!everyone> <@U024BE7LH> <#C123> <!subteam^S012> <!date^1392734382^{date}|x>",
		"a link in Slack":                    "<https://evil.example|Pull request #12>",
		"an escape of an escape":             "&lt;!channel&gt; &amp;lt;!channel&amp;gt;",
		"a mention in Discord":               "@everyone @here <@1234567890> <@&1234567890> <#1234567890> <:evil:12345> </evil:12345>",
		"a mention in Mattermost":            "@channel @all @here ~town-square <!channel> <https://evil.example|x>",
		"a mention in Teams":                 "<at>everyone</at> <a href=\"https://evil.example\">x</a>",
		"a link in Markdown":                 "[x](https://evil.example) ![x](https://evil.example/i.png) <https://evil.example> https://evil.example [x]: https://evil.example",
		"an end of code":                     "`@everyone` ``@everyone`` ```\n@everyone\n``` \\`@everyone\\`",
		"a backtick at the end":              "evil \\`",
		"a new line":                         "evil\n# @everyone\r\n> @channel\u2028@here\u2029@all\v@all\f@all\u0085@all",
		"an element of a card":               "\"}, {\"type\": \"TextBlock\", \"text\": \"[x](https://evil.example)\"",
		"a placeholder of a card":            "${$root.secret} {{DATE(2017-02-14T06:08:39Z, SHORT)}}",
		"other directions":                   "\u202e@everyone\u202c \u2066@here\u2069",
		"nothing that is visible":            "\u200b\u2060\ufeff\x00\x1b",
		"invalid UTF-8":                      "evil \xff\xfe @everyone",
		"ampersands":                         strings.Repeat("&", 5000),
		"angle brackets":                     strings.Repeat("<>", 5000),
		"emojis":                             strings.Repeat("\U0001f468\u200d\U0001f469", 5000),
		"backticks":                          strings.Repeat("`", 5000),
		"a long word":                        strings.Repeat("x", 5000),
		"quotes, which JSON makes longer":    strings.Repeat("\"\\\u2028", 5000),
		"half of a link, and the other half": "<https://evil.example` |x` [",
	}
}

// places are where a text of a user gets into a message.
func places() map[string]func(m *notify.Message, text string) {
	return map[string]func(m *notify.Message, text string){
		"reason":     func(m *notify.Message, text string) { m.Events[len(m.Events)-1].Reason = text },
		"user":       func(m *notify.Message, text string) { m.Events[len(m.Events)-1].User = text },
		"tag":        func(m *notify.Message, text string) { m.Versions[0].To = text },
		"repository": func(m *notify.Message, text string) { m.Repository = text },
		"names": func(m *notify.Message, text string) {
			m.Environment, m.Application, m.Versions[0].Component = text, text, text
		},
		"pages": func(m *notify.Message, text string) {
			m.PullRequest.URL, m.Page = "https://git.example/pull/1?x="+text, "https://promoter.example.com/applications/"+url.PathEscape(text)
		},
		"everything": func(m *notify.Message, text string) {
			m.Events[len(m.Events)-1].Reason, m.Events[len(m.Events)-1].User, m.Repository = text, text, text
			m.Environment, m.Application, m.Snapshot = text, text, text
			m.PullRequest.URL, m.Page = "https://git.example/pull/1?x="+text, "https://promoter.example.com/applications/"+url.PathEscape(text)
			m.Versions = slices.Repeat([]notify.Change{{Component: text, From: text, To: text, FromDigest: text, ToDigest: text}}, 50)
		},
	}
}

// No text of a user mentions others, links elsewhere, or has a size or form that a service refuses:
// what is refused is not sent, so that it would hide a promotion.
func TestChats_acceptHostileTextsAndShowThemAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, c := range chats() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, func(r received) (int, string) {
				if why := c.refusal(r.body); why != "" {
					return http.StatusBadRequest, why
				}
				return http.StatusOK, c.answer
			})
			sender := c.sender(s)
			for what, text := range hostile() {
				for where, put := range places() {
					t.Run(what+" as the "+where, func(t *testing.T) { // one after the other: the last request is its own
						m := message(notify.Proposed, notify.Landed, notify.Healthy)
						put(&m, text)
						receipt := notify.Receipt{}
						for range 2 { // the second one replaces the first, where the service can
							var err error
							if receipt, err = sender.Send(t.Context(), m, receipt); err != nil {
								t.Error(err)
							}
							all := s.requests()
							marked := c.marked(t, all[len(all)-1].body)
							for _, evil := range []string{"(https://evil", "<https://evil", "<!", "<@", "<#", "</at>", "@everyone", "@here", "@channel", "@all"} {
								if strings.Contains(marked, evil) {
									t.Errorf("%q is not shown as text, but read in\n%s", evil, marked)
								}
							}
						}
					})
				}
			}
		})
	}
}

// A service that asks to wait gets no request before that time, and one that redirects gets no message
// elsewhere, also not at another path.
func TestChats_waitAndStay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	const limited = `{"message": "You are being rate limited.", "retry_after": 3000, "global": true}`
	for name, c := range chats() {
		for what, test := range map[string]struct {
			status   int
			header   http.Header
			requests int // of two messages
			kind     fault.Kind
		}{
			"wait":                      {http.StatusTooManyRequests, http.Header{"Retry-After": {"3000"}}, 1, fault.RateLimited},
			"a redirect to another":     {http.StatusFound, http.Header{"Location": {"https://evil.example/"}}, 2, fault.Invalid},
			"a redirect with the body":  {http.StatusPermanentRedirect, http.Header{"Location": {"/elsewhere"}}, 2, fault.Invalid},
			"a redirect to plain HTTP":  {http.StatusTemporaryRedirect, http.Header{"Location": {"http://127.0.0.1:1/"}}, 2, fault.Invalid},
			"a redirect without a goal": {http.StatusSeeOther, http.Header{"Location": {":// ` not a URL"}}, 2, fault.Invalid},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				s := newService(t, func(received) (int, string) { return test.status, limited })
				s.header = test.header
				pool := x509.NewCertPool()
				pool.AddCert(s.Certificate())
				client, err := outbound.New(outbound.Options{
					AllowLoopback: true, Now: func() time.Time { return now }, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(client.CloseIdleConnections)
				s.client = client
				sender := c.sender(s)
				for range 2 {
					_, err := sender.Send(t.Context(), message(notify.Landed), notify.Receipt{})
					if fault.KindOf(err) != test.kind || strings.Contains(err.Error(), "secret") {
						t.Errorf("%s: %v", fault.KindOf(err), err)
					}
					if at, limited := fault.RetryAt(err); test.kind == fault.RateLimited && (!limited || at.Before(now.Add(50*time.Minute))) {
						t.Errorf("the next message is sent at %v", at)
					}
				}
				var paths []string
				for _, r := range s.requests() {
					paths = append(paths, r.path)
				}
				if len(paths) != test.requests || slices.Contains(paths, "/elsewhere") {
					t.Errorf("requests to %v, want %d", paths, test.requests)
				}
			})
		}
	}
}
