package app_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/notify"
	"promoter/internal/secret"
)

// A notification of each kind of destination has links, and nothing that decides: a reader who follows the one to the
// dashboard needs a session.
func TestEntrances_ofNotifications(t *testing.T) {
	t.Parallel()
	w := newEntranceWorld(t, false)
	table := chatTable(t)
	var kinds []string
	for field := range reflect.TypeFor[serverconfig.Destination]().Fields() {
		if field.Type.Kind() == reflect.Pointer {
			kinds = append(kinds, strings.ToLower(field.Name))
		}
	}
	entrancesCover(t, table.title, kinds, table.whats())
	path := "/applications/shop?" + w.named("repository={repository}", "")
	pull := w.forge.URL() + "/acme/gitops/pull/1"
	message := notify.Message{
		ID: "1", Repository: w.forge.Host() + "/acme/gitops", Environment: "staging", Application: "shop", Snapshot: "v1:1",
		Versions: []notify.Change{{Component: "web", From: "1.0.0", To: "1.1.0"}}, PullRequest: notify.PullRequest{Number: 1, URL: pull},
		Page: w.url + path, Events: []notify.Event{{ID: "1", State: notify.Proposed, At: w.clock.Now()}},
	}
	table.compare(t, func(row entranceRow, principal string) string {
		text := sendTo(t, row.what, message, w.url)
		if problem := decidesIn(text); problem != "" {
			return problem
		}
		links := linksIn(text)
		if !slices.Contains(links, w.url+path) {
			return fmt.Sprintf("no link to the dashboard in %s", text)
		}
		for _, link := range links {
			own := link == w.url+path || link == pull || link == w.url // the last is the source of an event
			if !own && !strings.HasPrefix(link, "http://adaptivecards.io/schemas/") {
				return "a link to " + link
			}
		}
		answer, _ := w.ask(principal, aboutInside, http.MethodGet, path, "")
		return answer
	})
}

// decidesIn returns what in the payload of a chat would send a request when a reader selects it; empty: nothing.
func decidesIn(text string) string {
	for _, word := range []string{"action_id", "callback_id", "custom_id", "integration", "Action.Http", "Action.Submit", "Action.Execute", "HttpPOST"} {
		if strings.Contains(text, word) {
			return word + " in " + text
		}
	}
	return ""
}

// linksIn returns the URLs in a payload.
func linksIn(text string) (links []string) {
	text = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">", "&amp;", "&", `\n`, "\n").Replace(text)
	return regexp.MustCompile(`https?://[^\s"'<>|)]+`).FindAllString(text, -1)
}

// sendTo sends a message to a destination of a kind, and returns what it received.
func sendTo(t *testing.T, kind string, message notify.Message, service string) string {
	t.Helper()
	received := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
		_, _ = io.WriteString(w, `{"ok": true, "id": "1", "ts": "1", "channel": "c"}`)
	}))
	defer server.Close()
	transport, hook := http.DefaultTransport, secret.New(server.URL+"/hook")
	signed := notify.SignedOptions{
		Transport: transport, URL: server.URL, Now: time.Now,
		Secret: secret.New("whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))),
	}
	var sender notify.Sender
	var err error
	switch kind {
	case "slack":
		sender = notify.NewSlack(notify.SlackOptions{Transport: transport, URL: hook})
	case "teams":
		sender = notify.NewTeams(transport, hook)
	case "discord":
		sender = notify.NewDiscord(transport, hook)
	case "mattermost":
		sender = notify.NewMattermost(notify.MattermostOptions{Transport: transport, URL: hook})
	case "email":
		sender = notify.NewEmail(notify.EmailOptions{
			Dial: mailbox(received), Server: "mail.example.com:25", From: "promoter@example.com", To: []string{"team@example.com"},
			TLS: notify.PlainText, Now: time.Now,
		})
	case "webhook":
		sender, err = notify.NewWebhook(signed)
	case "cloudevents":
		sender, err = notify.NewCloudEvents(signed, service)
	default:
		t.Fatalf("no sender for %s", kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sender.Send(t.Context(), message, notify.Receipt{}); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return <-received
}

// mailbox is a server of SMTP that accepts one message.
func mailbox(received chan<- string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			_, _ = io.WriteString(server, "220 ready\r\n")
			lines, data, inData := bufio.NewScanner(server), "", false
			for lines.Scan() {
				line := lines.Text()
				answer := "250 ok\r\n"
				switch {
				case inData && line == ".":
					inData = false
					_, body, _ := strings.Cut(data, "\n\n") // without the header
					received <- strings.NewReplacer("=\n", "", "=3D", "=").Replace(body)
				case inData:
					data += line + "\n"
					continue
				case strings.HasPrefix(line, "DATA"):
					inData, answer = true, "354 go on\r\n"
				case strings.HasPrefix(line, "QUIT"):
					answer = "221 bye\r\n"
				}
				_, _ = io.WriteString(server, answer)
			}
		}()
		return client, nil
	}
}
