package notify_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"promoter/internal/notify"
	"promoter/internal/secret"

	"github.com/google/go-cmp/cmp"
)

// mailServer is a mail server that receives one message at a time.
type mailServer struct {
	address  string
	roots    *http.Transport
	config   *tls.Config
	implicit bool
	plain    bool          // offers no encryption
	commands chan string   // of each session, in one text
	data     chan []string // lines of each message
}

func newMailServer(t *testing.T, implicit, plain bool) *mailServer {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(web.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{
		address: listener.Addr().String(), roots: web.Client().Transport.(*http.Transport), config: &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12},
		implicit: implicit, plain: plain, commands: make(chan string, 10), data: make(chan []string, 10),
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
		}
	}()
	return s
}

func (s *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	encrypted := s.implicit
	if s.implicit {
		conn = tls.Server(conn, s.config)
	}
	reader := bufio.NewReader(conn)
	say := func(line string) { _, _ = conn.Write([]byte(line + "\r\n")) }
	var commands []string
	defer func() { s.commands <- strings.Join(commands, "\n") }()
	say("220 mail.example.com")
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		commands = append(commands, line)
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "EHLO":
			switch {
			case encrypted:
				say("250-mail.example.com\r\n250 AUTH PLAIN LOGIN")
			case s.plain:
				say("250 mail.example.com")
			default:
				say("250-mail.example.com\r\n250 STARTTLS")
			}
		case "STARTTLS":
			say("220 go")
			conn, encrypted = tls.Server(conn, s.config), true
			reader = bufio.NewReader(conn)
		case "AUTH":
			if !strings.HasSuffix(line, base64.StdEncoding.EncodeToString([]byte("\x00robot\x00canary-password"))) {
				say("535 canary-password is wrong")
				return
			}
			say("235 ok")
		case "DATA":
			say("354 go")
			var lines []string
			for {
				text, err := reader.ReadString('\n')
				if err != nil {
					return
				}
				if text = strings.TrimRight(text, "\r\n"); text == "." {
					break
				}
				lines = append(lines, text)
			}
			s.data <- lines
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *mailServer) options(mode notify.EmailTLS, password string) notify.EmailOptions {
	o := notify.EmailOptions{
		Dial: (&net.Dialer{}).DialContext, Server: s.address, From: "promoter <promoter@example.com>", To: []string{"a@example.com", "B <b@example.com>"}, TLS: mode,
		Roots: s.roots.TLSClientConfig.RootCAs, Now: func() time.Time { return at },
	}
	if password != "" {
		o.Username, o.Password = "robot", secret.New(password)
	}
	return o
}

func TestEmail_isSentEncrypted(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]notify.EmailTLS{"STARTTLS": notify.STARTTLS, "implicit": notify.ImplicitTLS} {
		s := newMailServer(t, mode == notify.ImplicitTLS, false)
		sender := notify.NewEmail(s.options(mode, "canary-password"))
		if text, err := sender.Check(t.Context()); err != nil || text == "" {
			t.Fatalf("%s: %v", name, err)
		}
		<-s.commands
		for _, states := range [][]notify.State{{notify.Proposed}, {notify.Proposed, notify.Landed}} {
			if _, err := sender.Send(t.Context(), message(states...), notify.Receipt{}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			commands := <-s.commands
			if mode == notify.STARTTLS && strings.Index(commands, "STARTTLS") > strings.Index(commands, "AUTH") ||
				!strings.Contains(commands, "RCPT TO:<a@example.com>") || !strings.Contains(commands, "RCPT TO:<b@example.com>") || strings.Contains(commands, "evil") {
				t.Errorf("%s: %s", name, commands)
			}
		}
		first, second := parse(t, <-s.data), parse(t, <-s.data)
		want := map[string]string{
			"From": `"promoter" <promoter@example.com>`, "To": `<a@example.com>, "B" <b@example.com>`,
			"Subject": "web 1.4.1 -> 1.4.2 is proposed for prod (shop)", "Bcc": "", "Auto-Submitted": "auto-generated",
		}
		for key, value := range want {
			if got := first.Header.Get(key); got != value {
				t.Errorf("%s: %s: %q, want %q", name, key, got, value)
			}
		}
		if a, b := first.Header.Get("References"), second.Header.Get("References"); a != b || a == "" || first.Header.Get("Message-Id") == second.Header.Get("Message-Id") {
			t.Errorf("%s: not one thread: %s, %s", name, a, b)
		}
	}
}

func parse(t *testing.T, lines []string) *mail.Message {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(strings.Join(lines, "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func TestEmail_isInPlainTextOnlyWhereConfigured(t *testing.T) {
	t.Parallel()
	s := newMailServer(t, false, true)
	if _, err := notify.NewEmail(s.options(notify.STARTTLS, "")).Send(t.Context(), message(notify.Landed), notify.Receipt{}); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("err = %v", err)
	}
	<-s.commands
	if _, err := notify.NewEmail(s.options(notify.PlainText, "")).Send(t.Context(), message(notify.Landed), notify.Receipt{}); err != nil {
		t.Fatal(err)
	}
	lines := <-s.data
	body := strings.Join(lines[len(lines)-5:], "\n")
	if !strings.Contains(body, "Pull request #12: https://github.com/acme/gitops/pull/12") {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
}

func TestEmail_errorsHideThePassword(t *testing.T) {
	t.Parallel()
	s := newMailServer(t, false, false)
	o := s.options(notify.STARTTLS, "canary-password-2")
	_, err := notify.NewEmail(o).Send(t.Context(), message(notify.Landed), notify.Receipt{})
	if err == nil || strings.Contains(err.Error(), "canary-password-2") {
		t.Errorf("err = %v", err)
	}
	o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	if diff := cmp.Diff("email: dial failed: use of closed network connection", errorText(notify.NewEmail(o).Send(t.Context(), message(notify.Landed), notify.Receipt{}))); diff != "" {
		t.Error(diff)
	}
}

func errorText(_ notify.Receipt, err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
