package notify_test

import (
	"net/http"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/secret"

	"github.com/google/go-cmp/cmp"
)

// A bot posts one message and replaces it; a deleted one is posted again.
func TestSlack_updatesItsMessage(t *testing.T) {
	t.Parallel()
	deleted := false
	s := newService(t, func(r received) (int, string) {
		switch {
		case r.header.Get("Authorization") != "Bearer xoxb-secret-token":
			return 200, `{"ok":false,"error":"invalid_auth"}`
		case r.path == "/chat.update" && deleted:
			return 200, `{"ok":false,"error":"message_not_found"}`
		}
		return 200, `{"ok":true,"channel":"C1","ts":"17.42"}`
	})
	sender := notify.NewSlack(notify.SlackOptions{Transport: s.transport(), Token: secret.New("xoxb-secret-token"), Channel: "C0", API: s.URL})
	sent, err := sender.Send(t.Context(), message(notify.Proposed), notify.Receipt{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(notify.Receipt{Channel: "C1", ID: "17.42", To: "C0"}, sent); diff != "" || sender.Mode() != notify.Updated {
		t.Error(diff)
	}
	again, err := sender.Send(t.Context(), message(notify.Proposed, notify.Landed), sent)
	if err != nil || again != sent {
		t.Fatal(again, err)
	}
	deleted = true
	if _, err := sender.Send(t.Context(), message(notify.Proposed, notify.Landed), sent); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Channel, TS, Text string
		Blocks            []struct {
			Type string
			Text struct {
				Type, Text string
				Verbatim   bool
			}
		}
	}
	var paths []string
	for _, r := range s.requests() {
		paths = append(paths, r.path)
		body.TS = ""
		r.decode(t, &body)
		if body.TS == "" != (r.path == "/chat.postMessage") || body.Channel == "" || len(body.Blocks) != 1 || body.Blocks[0].Text.Type != "mrkdwn" || !body.Blocks[0].Text.Verbatim {
			t.Errorf("%s: %s", r.path, r.body)
		}
	}
	if diff := cmp.Diff([]string{"/chat.postMessage", "/chat.update", "/chat.update", "/chat.postMessage"}, paths); diff != "" {
		t.Error(diff)
	}
	want := "`web 1.4.1 -&gt; 1.4.2` *landed in* `prod (shop)`\n" +
		"• Repository: `github.com/acme/gitops`\n" +
		"• Reason: `soak &lt;!channel&gt; &lt;https://evil.example|click&gt; @everyone @channel [x](https://evil.example) '*_~ Bcc: a@evil.example[31m &amp; &lt;/p&gt;`\n" +
		"• By: `@everyone`\n" +
		"• History: `proposed 03-04 05:06, landed 03-04 05:07 UTC`\n" +
		"<https://github.com/acme/gitops/pull/12|Pull request #12> · <https://promoter.example.com/applications/shop|Dashboard>"
	if diff := cmp.Diff(want, body.Blocks[0].Text.Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSlack_incomingWebhookAnnounces(t *testing.T) {
	t.Parallel()
	s := newService(t, func(received) (int, string) { return 200, "ok" })
	sender := notify.NewSlack(notify.SlackOptions{Transport: s.transport(), URL: s.url("/services/T0/B0/secretsecret")})
	if _, err := sender.Send(t.Context(), message(notify.Failed), notify.Receipt{}); err != nil || sender.Mode() != notify.Announced {
		t.Fatal(err)
	}
	if r := s.requests(); len(r) != 1 || r[0].path != "/services/T0/B0/secretsecret" || strings.Contains(string(r[0].body), "<!channel>") {
		t.Errorf("%+v", r)
	}
}

func TestTeams_sendsAnAdaptiveCard(t *testing.T) {
	t.Parallel()
	s := newService(t, func(received) (int, string) { return http.StatusAccepted, "" })
	sender := notify.NewTeams(s.transport(), s.url("/workflows/1?sig=secret-signature"))
	if _, err := sender.Send(t.Context(), message(notify.Landed), notify.Receipt{}); err != nil {
		t.Fatal(err)
	}
	r := s.requests()[0]
	var body struct {
		Type        string
		Attachments []struct {
			ContentType string
			Content     struct {
				Type, Version string
				Body          []struct {
					Type    string
					Inlines []struct{ Type, Text string }
				}
				Actions []struct{ Type, Title, URL string }
			}
		}
	}
	r.decode(t, &body)
	card := body.Attachments[0]
	if r.path != "/workflows/1?sig=secret-signature" || body.Type != "message" || card.ContentType != "application/vnd.microsoft.card.adaptive" || card.Content.Type != "AdaptiveCard" {
		t.Errorf("%s", r.body)
	}
	var text []string
	for _, block := range card.Content.Body {
		line := ""
		for _, run := range block.Inlines {
			if block.Type != "RichTextBlock" || run.Type != "TextRun" { // the others read Markdown
				t.Errorf("%+v", block)
			}
			line += run.Text
		}
		text = append(text, line)
	}
	if text[0] != "web 1.4.1 -> 1.4.2 landed in prod (shop)" || text[1] != "Repository: github.com/acme/gitops" {
		t.Errorf("%q", text)
	}
	for _, action := range card.Content.Actions {
		if action.Type != "Action.OpenUrl" || strings.Contains(action.URL, "evil") {
			t.Errorf("%+v", action)
		}
	}
}

// A webhook of Discord mentions no user, and replaces its message.
func TestDiscord_updatesItsMessage(t *testing.T) {
	t.Parallel()
	s := newService(t, func(r received) (int, string) {
		if r.method == http.MethodPatch && strings.Contains(r.path, "/messages/gone") {
			return 404, `{"message":"Unknown Message","code":10008}`
		}
		return 200, `{"id":"998877"}`
	})
	sender := notify.NewDiscord(s.transport(), s.url("/api/webhooks/1/secret-token?thread_id=7"))
	sent, err := sender.Send(t.Context(), message(notify.Proposed), notify.Receipt{})
	if err != nil || sent.ID != "998877" || sender.Mode() != notify.Updated {
		t.Fatal(sent, err)
	}
	for _, receipt := range []notify.Receipt{sent, {ID: "gone", To: sent.To}} {
		if again, err := sender.Send(t.Context(), message(notify.Proposed, notify.Healthy), receipt); err != nil || again != sent {
			t.Fatal(again, err)
		}
	}
	var calls []string
	for _, r := range s.requests() {
		calls = append(calls, r.method+" "+r.path)
		var body struct {
			Content  string
			Mentions struct{ Parse []string } `json:"allowed_mentions"`
		}
		r.decode(t, &body)
		if body.Mentions.Parse == nil || len(body.Mentions.Parse) > 0 || len([]rune(body.Content)) > 2000 {
			t.Errorf("%s", r.body)
		}
		for part := range strings.SplitSeq(outsideCode(body.Content), "\n") {
			if strings.Contains(part, "evil") || strings.Contains(part, "@") {
				t.Errorf("not in code: %s", part)
			}
		}
	}
	want := []string{
		"POST /api/webhooks/1/secret-token?thread_id=7&wait=true",
		"PATCH /api/webhooks/1/secret-token/messages/998877?thread_id=7",
		"PATCH /api/webhooks/1/secret-token/messages/gone?thread_id=7",
		"POST /api/webhooks/1/secret-token?thread_id=7&wait=true",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
}

// outsideCode returns what of a Markdown text is not in code spans.
func outsideCode(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}

func TestMattermost_updatesThePostOfABot(t *testing.T) {
	t.Parallel()
	s := newService(t, func(received) (int, string) { return 201, `{"id":"post1"}` })
	sender := notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), Server: s.URL, Token: secret.New("bot-token-12345"), Channel: "chan1"})
	sent, err := sender.Send(t.Context(), message(notify.Proposed), notify.Receipt{})
	if err != nil || sent.ID != "post1" {
		t.Fatal(sent, err)
	}
	if _, err := sender.Send(t.Context(), message(notify.Proposed, notify.Landed), sent); err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, r := range s.requests() {
		var body struct {
			ID, Message string
			Channel     string `json:"channel_id"`
		}
		r.decode(t, &body)
		calls = append(calls, r.method+" "+r.path+" "+body.ID+body.Channel+" "+r.header.Get("Authorization"))
		if strings.Contains(outsideCode(body.Message), "@") {
			t.Errorf("mentions: %s", body.Message)
		}
	}
	if diff := cmp.Diff([]string{"POST /api/v4/posts chan1 Bearer bot-token-12345", "PUT /api/v4/posts/post1 post1 Bearer bot-token-12345"}, calls); diff != "" {
		t.Error(diff)
	}
}

func TestMattermost_incomingWebhookAnnounces(t *testing.T) {
	t.Parallel()
	s := newService(t, func(received) (int, string) { return 200, "ok" })
	sender := notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), URL: s.url("/hooks/secrethook12")})
	if _, err := sender.Send(t.Context(), message(notify.Landed), notify.Receipt{}); err != nil || sender.Mode() != notify.Announced {
		t.Fatal(err)
	}
	var body struct{ Text string }
	s.requests()[0].decode(t, &body)
	if !strings.HasPrefix(body.Text, "`web 1.4.1 -> 1.4.2` **landed in** `prod (shop)`\n") {
		t.Errorf("%s", body.Text)
	}
}

// Errors have the kind that decides about retries, and no secret, even if the service sends it back.
func TestSend_errorsHideSecrets(t *testing.T) {
	t.Parallel()
	const canary = "canary-91ab44-secret"
	status := make(chan int, 1)
	s := newService(t, func(r received) (int, string) {
		if r.path == "/chat.postMessage" && len(status) == 0 {
			return 200, `{"ok":false,"error":"invalid_auth ` + canary + `"}`
		}
		select {
		case code := <-status:
			return code, "no such hook " + canary + " at " + r.path
		default:
			return 302, ""
		}
	})
	hook, token := s.url("/services/"+canary), secret.New(canary)
	for name, sender := range map[string]notify.Sender{
		"slack url":        notify.NewSlack(notify.SlackOptions{Transport: s.transport(), URL: hook}),
		"slack token":      notify.NewSlack(notify.SlackOptions{Transport: s.transport(), Token: token, API: s.URL}),
		"teams":            notify.NewTeams(s.transport(), hook),
		"discord":          notify.NewDiscord(s.transport(), hook),
		"mattermost url":   notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), URL: hook}),
		"mattermost token": notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), Server: s.URL, Token: token}),
	} {
		for code, kind := range map[int]fault.Kind{0: "", 404: fault.NotFound, 401: fault.Unauthorized, 400: fault.Invalid, 500: fault.Temporary} {
			if code != 0 {
				status <- code
			}
			_, err := sender.Send(t.Context(), message(notify.Landed), notify.Receipt{})
			if err == nil || strings.Contains(err.Error(), "canary") || kind != "" && fault.KindOf(err) != kind {
				t.Errorf("%s: %d: %v (%s)", name, code, err, fault.KindOf(err))
			}
		}
	}
	s.Close()
	_, err := notify.NewTeams(s.transport(), hook).Send(t.Context(), message(notify.Landed), notify.Receipt{})
	if err == nil || strings.Contains(err.Error(), "canary") || fault.KindOf(err) != fault.Temporary {
		t.Errorf("a service that is down: %v (%s)", err, fault.KindOf(err))
	}
}

// Nothing but a link to a web page is a link, and no URL ends the format that it is in.
func TestSend_linksOnlyToWebPages(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/gitops/pull/12": "https://github.com/acme/gitops/pull/12",
		"https://h/a)](https://evil":             "https://h/a%29%5D%28https://evil",
		"https://h/a|b>c":                        "https://h/a%7Cb%3Ec",
		"javascript:alert(1)":                    "",
		"https://user:password@h/":               "",
		"//h/a":                                  "",
		"":                                       "",
	} {
		s := newService(t, func(received) (int, string) { return 200, "" })
		m := message(notify.Landed)
		m.PullRequest.URL, m.Page = address, ""
		if _, err := notify.NewTeams(s.transport(), s.url("/")).Send(t.Context(), m, notify.Receipt{}); err != nil {
			t.Fatal(err)
		}
		var body struct {
			Attachments []struct {
				Content struct{ Actions []struct{ URL string } }
			}
		}
		s.requests()[0].decode(t, &body)
		got := ""
		for _, action := range body.Attachments[0].Content.Actions {
			got = action.URL
		}
		if got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// A message at the address that a destination had before is not replaced: what has happened since
// does not reach it. It is sent again to the present address.
func TestSenders_replaceNothingAtAnEarlierAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		at   func(s *service, place string) notify.Sender
		want string // the requests
	}{
		{"slack", func(s *service, place string) notify.Sender {
			return notify.NewSlack(notify.SlackOptions{Transport: s.transport(), Token: secret.New("xoxb-secret-token"), Channel: place, API: s.URL})
		}, "POST /chat.postMessage, POST /chat.postMessage, POST /chat.update"},
		{"mattermost", func(s *service, place string) notify.Sender {
			return notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), Server: s.URL, Token: secret.New("secret-token"), Channel: place})
		}, "POST /api/v4/posts, POST /api/v4/posts, PUT /api/v4/posts/7"},
		{"mattermost server", func(s *service, place string) notify.Sender {
			return notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), Server: s.URL + "/" + place, Token: secret.New("secret-token"), Channel: "releases"})
		}, "POST /first/api/v4/posts, POST /second/api/v4/posts, PUT /second/api/v4/posts/7"},
		{"discord", func(s *service, place string) notify.Sender {
			if place == "first" { // it was another service
				return notify.NewMattermost(notify.MattermostOptions{Transport: s.transport(), Server: s.URL, Token: secret.New("secret-token"), Channel: place})
			}
			return notify.NewDiscord(s.transport(), s.url("/webhook"))
		}, "POST /api/v4/posts, POST /webhook?wait=true, PATCH /webhook/messages/7"},
	} {
		s := newService(t, func(received) (int, string) { return 200, `{"ok": true, "channel": "C1", "ts": "7", "id": "7"}` })
		var sent notify.Receipt
		for _, place := range []string{"first", "second", "second"} {
			var err error
			if sent, err = test.at(s, place).Send(t.Context(), message(notify.Landed), sent); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		var got []string
		for _, r := range s.requests() {
			got = append(got, r.method+" "+r.path)
		}
		if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
