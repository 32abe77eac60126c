package scmtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/secret"
)

// Dial has the options that every forge needs.
type Dial struct {
	URL   string
	Token func(ctx context.Context) (secret.String, error)
	HTTP  *http.Client
	Now   func() time.Time
}

// canary is the token, which no error may contain.
const canary = "canary-of-a-token"

// repositoryJSON is a repository for every forge.
const repositoryJSON = `{"id":7,"name":"deploy","full_name":"acme/deploy","path_with_namespace":"acme/deploy","owner":{"login":"acme"},
"default_branch":"main","has_pull_requests":true}`

// Wire tests how a forge is created, and opens repositories on servers that respond
// as no forge would.
func Wire(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, dial func(Dial) (scm.Forge, error)){
		"options are checked": newRefuses, "an account can be renamed": accountIsRenamed, "errors hold no credential": noCredential,
		"a name that is none asks nothing": refusedNames, "the token cannot be read": noToken, "no server": noServer, "a call ends with its context": contextEnds,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, dial)
		})
	}
}

// wired returns the options of a forge that uses a handler as the server.
func wired(t *testing.T, handle http.HandlerFunc) Dial {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return Dial{
		URL: server.URL, HTTP: server.Client(), Now: time.Now, //nolint:forbidigo // of the server's clock, which is the machine's
		Token: func(context.Context) (secret.String, error) { return secret.New(canary), nil },
	}
}

// opens creates a forge and opens a repository.
func opens(ctx context.Context, t *testing.T, dial func(Dial) (scm.Forge, error), options Dial, name string) error {
	t.Helper()
	forge, err := dial(options)
	fatal(t, "new", err)
	_, err = forge.Open(ctx, name)
	if err != nil && strings.Contains(err.Error(), canary) {
		t.Errorf("the error holds the credential: %v", err)
	}
	return err //nolint:wrapcheck // it is what is tested
}

func newRefuses(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	right := wired(t, http.NotFound)
	for name, spoil := range map[string]func(*Dial){
		"token": func(d *Dial) { d.Token = nil }, "HTTP": func(d *Dial) { d.HTTP = nil }, "clock": func(d *Dial) { d.Now = nil },
	} {
		options := right
		spoil(&options)
		if _, err := dial(options); err == nil {
			t.Errorf("created without %s", name)
		}
	}
	for _, bad := range []string{
		"git.example.com", "ssh://git.example.com", "https://", "https://user:canary@git.example.com", "https://git.example.com?a=canary",
		"https://git.example.com#canary", "https://can\x7fary",
	} {
		right.URL = bad
		if _, err := dial(right); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A forge lives as long as the service.
func accountIsRenamed(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	asked, now := 0, time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	options := wired(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/user") {
			_, _ = w.Write([]byte(repositoryJSON))
			return
		}
		asked++
		_, _ = fmt.Fprintf(w, `{"id":1,"login":"name-%d","username":"name-%d"}`, asked, asked)
	})
	options.Now = func() time.Time { return now }
	forge, err := dial(options)
	fatal(t, "new", err)
	for _, want := range []string{"name-1", "name-1", "name-2"} {
		repo, err := forge.Open(t.Context(), "acme/deploy")
		fatal(t, "open", err)
		if got := repo.Info().Self.Login; got != want {
			t.Errorf("we are %s, want %s", got, want)
		}
		now = now.Add(45 * time.Minute)
	}
}

func noCredential(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	says := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, status) }
	}
	for name, handle := range map[string]http.HandlerFunc{
		"message":         says(403, `{"message":"bad token `+canary+` of https://u:`+canary+`@git.example.com/x?token=`+canary+`"}`),
		"detail":          says(422, `{"message":"no","errors":[{"message":"`+canary+`"},"`+canary+`",{"field":"`+canary+`","code":"invalid"}]}`),
		"field":           says(400, `{"message":{"`+canary+`":["`+canary+`"]}}`),
		"limit":           says(429, `Retry later `+canary),
		"no JSON":         says(502, `<html>`+canary+`</html>`),
		"no JSON, but OK": says(200, `<html>`+canary+`</html>`),
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.com/?t="+r.Header.Get("Authorization"), http.StatusFound)
		},
		"no HTTP": func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = connection.Write([]byte("HTTP/1.1 " + canary + " OK\r\n\r\n"))
				_ = connection.Close()
			}
		},
	} {
		if opens(t.Context(), t, dial, wired(t, handle), "acme/deploy") == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func refusedNames(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	options := wired(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	for _, name := range []string{
		"", "acme", "acme/", "/deploy", "acme/..", "../deploy", "acme/de ploy", "acme/deploy?x=1", "acme/%2e%2e", "acme/\n", "https://git.example.com/acme/deploy",
	} {
		wantKind(t, name, opens(t.Context(), t, dial, options, name), fault.Invalid)
	}
}

func noToken(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	options := wired(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	options.Token = func(context.Context) (secret.String, error) {
		return secret.String{}, fault.New(fault.Invalid, "the file of the token is gone")
	}
	err := opens(t.Context(), t, dial, options, "acme/deploy")
	wantKind(t, "open", err, fault.Invalid)
	if err == nil || !strings.Contains(err.Error(), "acme/deploy") || !strings.Contains(err.Error(), "the file of the token is gone") {
		t.Errorf("got %v", err)
	}
}

func noServer(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	options := wired(t, http.NotFound)
	options.URL = "http://127.0.0.1:1" // a port that no other process could get in the meantime
	wantKind(t, "open", opens(t.Context(), t, dial, options, "acme/deploy"), fault.Temporary)
}

func contextEnds(t *testing.T, dial func(Dial) (scm.Forge, error)) {
	ctx, cancel := context.WithCancel(t.Context())
	options := wired(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	err := opens(ctx, t, dial, options, "acme/deploy")
	wantKind(t, "open", err, fault.Temporary)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// WithoutPullRequests tests a repository whose settings disable them. Pushes still
// work.
func WithoutPullRequests(t *testing.T, repo scm.Repository) {
	t.Helper()
	if has := repo.Features(); has.PullRequests || has.Approvals || has.Comments || !has.Statuses || !has.Rules {
		t.Errorf("features %+v", has)
	}
	x := &fixture{repo: repo}
	x.none(t)
	if reviews, said := x.reviews(t, 1), x.said(t, 1); len(reviews) != 0 || len(said) != 0 {
		t.Errorf("reviews %v, comments %v", reviews, said)
	}
	fatal(t, "say", repo.Conversation().Say(t.Context(), 1, marker, "text"))
	_, err := repo.PullRequests().Create(t.Context(), draft())
	wantKind(t, "create", err, fault.Invalid)
	if err == nil || !strings.Contains(err.Error(), "pull requests are disabled") {
		t.Errorf("create: %v", err)
	}
}
