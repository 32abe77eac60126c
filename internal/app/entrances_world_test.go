package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/access"
	"promoter/internal/app"
	"promoter/internal/receiver"
	"promoter/internal/secret"
)

// entered is a config in which pull requests wait for users, so that decisions bring nothing by themselves. The components
// audit, seals, and keys are only where the scopes of scopeOf do not reach.
const entered = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
  audit: {image: $R/acme/audit, select: {semver: ">=1"}}
  seals: {image: $R/acme/seals, select: {semver: ">=1"}}
  keys: {image: $R/acme/keys, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: pr, health: {api: true, from: evidence-environment}}
  staging: {paths: ["staging/{application}.yaml"], after: [dev], health: {api: true, from: hook-evidence}}
  classified: {paths: ["classified/{application}.yaml"], after: [staging], health: {api: true, from: evidence-environment}}
`

// hiddenTexts are a name and a version that only what is outside of a scope has. Requests about it name the first.
func hiddenTexts() map[string][2]string {
	return map[string][2]string{
		aboutEnvironment: {"classified", "3.0.3"}, aboutApplication: {"vault", "4.0.4"}, aboutRepository: {"acme/hidden", "5.0.5"},
	}
}

// entranceScopes are the scopes of tokens and users, by what is outside of them; everything has no limits.
func entranceScopes() map[string]string {
	return map[string]string{
		aboutEverything:  "",
		aboutEnvironment: ", environments: [dev, staging]",
		aboutApplication: ", applications: [shop]",
		aboutRepository:  `, repositories: ["*/acme/gitops"]`,
		aboutOutside:     `, repositories: ["*/acme/gitops"], applications: [shop], environments: [dev, staging]`,
	}
}

// scopeOf returns the scope of a principal for what a request is about.
func scopeOf(about string) string {
	if about == aboutInside || about == aboutMore {
		return aboutEnvironment
	}
	return about
}

// entranceWorld is a service with a credential for each principal.
type entranceWorld struct {
	*served
	file     string // of the server
	routes   []string
	sessions *access.Sessions
	first    string          // the first commit
	reasons  map[string]bool // of decisions, and whether they were recorded
	delivery string
	program  string // what the command line runs
}

// tokenOf returns the secret of a principal. The log of the service may not contain it.
func tokenOf(name string) string { return "canary-" + name + "-0123456789abcdef0123456789abcdef" }

const setupSecret = "setup0123456789abcdef0123456789abcdef"

// environmentWith has the token of the forge, and a secret for each principal.
func environmentWith(token string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case "TOKEN":
			return token, true
		case "BADGE":
			return serveBadge, true
		case "SETUP":
			return setupSecret, true
		case "SEAL":
			return strings.Repeat("0123456789", 4), true
		}
		of, found := strings.CutPrefix(name, "OF_")
		return tokenOf(strings.ReplaceAll(of, "_", "-")), found
	}
}

func reference(name string) string { return `"env:OF_` + strings.ReplaceAll(name, "-", "_") + `"` }

// newEntranceWorld starts a service. With public, what the scope outside covers is read without a credential.
func newEntranceWorld(t *testing.T, public bool) *entranceWorld {
	t.Helper()
	s := newStory(t, "github", entered)
	s.repo.Settings.Permit("eve", "read")
	for _, image := range []string{"audit:3.0.3", "seals:4.0.4", "keys:5.0.4", "keys:5.0.5", "web:1.1.0"} {
		name, tag, _ := strings.Cut(image, ":")
		s.release(name, tag)
	}
	first := strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))
	s.repo.Git.Commit("ada", "main", "By hand", map[string]string{
		"dev/shop.yaml":        s.manifest("web:1.1.0", "worker:1.0.0"),
		"staging/vault.yaml":   s.manifest("seals:4.0.4"),
		"classified/shop.yaml": s.manifest("web:1.0.0", "audit:3.0.3"),
	})
	hidden := s.forge.NewRepository("acme/hidden", map[string]string{ // where promoter lands a version itself
		".promoter.yaml": s.expand(strings.Replace(entered, "land: pr", "land: push", 1)), "dev/shop.yaml": s.manifest("keys:5.0.4"),
	})
	hidden.Settings.Permit("promoter-bot", "write")
	hidden.Settings.Permit("ada", "write")
	hidden.Settings.Permit("bob", "write")
	provider := newProvider(t)
	w := &entranceWorld{first: first, reasons: map[string]bool{}}
	w.served = &served{story: s}
	w.file = s.serverFile("entrances.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
  hub: {kind: github, app: {setup: "env:SETUP"}}`, s.forge.URL()), w.configuration(provider, public))
	opened := openService(t, w.file, environmentWith(s.token), s.clock.Now)
	routes, err := app.Routes(t.Context(), opened)
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range routes {
		if route.Method != "echo_route_not_found" {
			w.routes = append(w.routes, route.Method+" "+route.Path)
		}
	}
	w.served = s.launch(openService(t, w.file, environmentWith(s.token), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1})
	w.reconciles()
	for _, decision := range []string{
		`"repository": "acme/gitops", "environment": "classified", "all": true`, `"repository": "acme/gitops", "environment": "staging", "application": "vault"`,
		`"repository": "acme/hidden", "all": true`,
	} {
		if answer, text := w.ask("admin", aboutEverything, http.MethodPost, "/api/v1/decisions", `{"verb": "hold", `+decision+`}`); answer != answerYes {
			t.Fatalf("%s: %s %s", decision, answer, text)
		}
		w.reconciles()
	}
	go func() { // nothing waits for the log any more
		for {
			select {
			case <-w.lines:
			case <-t.Context().Done():
				return
			}
		}
	}()
	w.sessions = w.newSessions(provider)
	return w
}

// newProvider is a provider of OpenID Connect, as far as the service reads it before users sign in.
func newProvider(t *testing.T) string {
	t.Helper()
	provider := httptest.NewUnstartedServer(nil)
	provider.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		at := "http://" + provider.Listener.Addr().String()
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, at, at+"/authorize", at+"/token", at+"/keys")
	})
	provider.Start()
	t.Cleanup(provider.Close)
	return provider.URL
}

// configuration returns the rest of the server file.
func (w *entranceWorld) configuration(provider string, public bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, `data: %q
poll: 24h
url: https://promoter.example.com
repositories: [{forge: forge, name: acme/gitops}, {forge: forge, name: acme/hidden}]
seal: {keys: ["env:SEAL"]}
bypass: [{conditions: [soak, windows], who: [ada]}]
receivers:
  poster: {kind: snapshot, secret: %s, snapshots: [{repositories: ["*/acme/gitops"], applications: [shop]}]}
`, filepath.Join(w.dir, "data"), reference("poster"))
	for _, kind := range receiver.Kinds() {
		credential := kind.Credentials[0]
		if credential == receiver.Audience {
			credential = receiver.PathSecret
		}
		repositories := ""
		if kind.Name == receiver.Evidence {
			repositories = `, repositories: ["*/acme/gitops"]`
		}
		fmt.Fprintf(&text, "  hook-%s: {kind: %[1]s, %s: %s%s}\n", kind.Name, credential, reference("hook-"+kind.Name), repositories)
	}
	text.WriteString("api:\n  token: " + reference("api-token") + "\n")
	if public {
		fmt.Fprintf(&text, "  public: {%s}\n", strings.TrimPrefix(entranceScopes()[aboutOutside], ", "))
	}
	text.WriteString("  badges: {readme: {token: \"env:BADGE\", repositories: [\"**\"]}}\n  tokens:\n")
	var claims strings.Builder
	for about, scope := range entranceScopes() {
		for _, role := range access.Roles() {
			name := string(role) + "-" + about
			fmt.Fprintf(&text, "    %s: {token: %s, roles: [%s]%s}\n", name, reference(name), role, scope)
		}
		for _, role := range access.UserRoles() {
			fmt.Fprintf(&claims, "      - {claim: groups, values: [%[1]s-%[2]s], roles: [%[1]s]%[3]s}\n", role, about, scope)
		}
	}
	fmt.Fprintf(&text, `  oidc:
    issuer: %s
    insecure: true
    clientID: promoter
    users: {claim: login, forge: forge}
    roles:
%s`, provider, claims.String())
	return text.String()
}

// newSessions makes the cookies that the service would make.
func (w *entranceWorld) newSessions(provider string) *access.Sessions {
	w.t.Helper()
	key, err := os.ReadFile(filepath.Join(w.dir, "data", "session.key"))
	if err != nil {
		w.t.Fatal(err)
	}
	sessions := &access.Sessions{Key: secret.New(strings.TrimSpace(string(key))), Now: w.clock.Now, OIDC: &access.Mapping{
		Issuer: provider, ClientID: "promoter", UserClaim: "login", UserForge: "forge",
	}}
	add := func(principal, token string) {
		sessions.Tokens = append(sessions.Tokens, access.Token{Principal: access.Principal{Name: principal}, Secret: secret.New(token)})
	}
	add("api.token", tokenOf("api-token"))
	for about := range entranceScopes() {
		for _, role := range access.Roles() {
			add("token "+string(role)+"-"+about, tokenOf(string(role)+"-"+about))
		}
		for _, role := range access.UserRoles() {
			group := string(role) + "-" + about
			sessions.OIDC.Roles = append(sessions.OIDC.Roles, access.ClaimRoles{Claim: "groups", Values: []string{group}, Roles: []access.Role{role}})
		}
	}
	return sessions
}

// users have the role and the login of users in the tables.
func entranceUsers() map[string][2]string {
	return map[string][2]string{
		"u:read": {"read", "ada"}, "u:operate": {"operate", "ada"}, "u:admin": {"admin", "bob"},
		"u:reader": {"operate", "eve"}, "u:unknown": {"admin", ""},
	}
}

// secretOf returns what a principal sends as its token; empty: nothing.
func secretOf(principal, about string) string {
	switch principal {
	case "nothing", "public":
		return ""
	case "badge":
		return serveBadge
	case "hook":
		return tokenOf("hook-generic")
	case "health":
		return tokenOf("hook-evidence")
	case "poster":
		return tokenOf("poster")
	case "setup":
		return setupSecret
	case "admin":
		if about == aboutEverything {
			return tokenOf("api-token")
		}
	}
	return tokenOf(principal + "-" + scopeOf(about))
}

// authenticate gives a request the credential of a principal, as the API or a browser sends it.
func (w *entranceWorld) authenticate(request *http.Request, principal, about string) {
	w.t.Helper()
	signedIn := httptest.NewRecorder()
	user, isUser := entranceUsers()[principal]
	switch {
	case isUser:
		claims := map[string][]string{"groups": {user[0] + "-" + scopeOf(about)}}
		if user[1] != "" {
			claims["login"] = []string{user[1]}
		}
		if _, err := w.sessions.SignInIdentity(signedIn, request, access.Identity{Subject: "subject", Claims: claims}); err != nil {
			w.t.Fatal(err)
		}
	case secretOf(principal, about) == "":
		return
	case strings.HasPrefix(request.URL.Path, "/api/"):
		request.Header.Set("Authorization", "Bearer "+secretOf(principal, about))
		return
	default:
		w.sessions.SignInToken(signedIn, request, secretOf(principal, about)) // others than tokens get no session
	}
	for _, cookie := range signedIn.Result().Cookies() {
		request.AddCookie(cookie)
		_, session, _ := w.sessions.Authenticate(request)
		request.Header.Set("X-CSRF-Token", w.sessions.CSRF(session))
	}
}

// canDecide reports whether a decision of a principal is not one without a credential, whatever its answer is.
func canDecide(principal string) bool {
	_, isUser := entranceUsers()[principal]
	return isUser || slices.Contains(access.Roles(), access.Role(principal))
}

// ask sends a request as a principal, and returns its answer and the body. Of a stream, the body is not
// read.
func (w *entranceWorld) ask(principal, about, method, path, body string) (answer, text string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if strings.HasPrefix(body, "{") {
		request.Header.Set("Content-Type", "application/json")
	} else {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method == http.MethodPost && !(canDecide(principal) && strings.Contains(path, "deci")) {
		w.wait(5 * time.Second) // so that this address sends not too many without a credential
	}
	w.authenticate(request, principal, about)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		content, err := io.ReadAll(response.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		text = string(content)
	}
	return answerOf(response, text), text
}

// answerOf is the answer of a table for a response.
func answerOf(response *http.Response, text string) string {
	toSignIn := strings.HasPrefix(response.Header.Get("Location"), "/sign-in")
	unknown := regexp.MustCompile(`there is no (environment|application)|has no environment \w+ with health`).MatchString(text)
	switch status := response.StatusCode; {
	case status == http.StatusSeeOther && toSignIn || status == http.StatusUnauthorized && response.Request.URL.Path == "/changes":
		return answerSignIn
	case status < http.StatusBadRequest:
		return answerYes
	case status == http.StatusUnauthorized:
		return answerSecret
	case status == http.StatusForbidden:
		return answerNo
	case status == http.StatusNotFound, status == http.StatusBadRequest && unknown:
		return answerAbsent
	}
	return fmt.Sprintf("%d %.300s", response.StatusCode, text)
}

// named replaces the words in a request of a route. What is about another one has a name that the scope hides.
func (w *entranceWorld) named(request, about string) string {
	values := map[string]string{
		"repository": w.forge.Host() + "/acme/gitops", "environment": "dev", "application": "shop", "component": "web",
		"version": "1.0.0", "snapshot": "release-1", "badge": serveBadge,
	}
	switch about {
	case aboutRepository:
		values["repository"], values["component"] = w.forge.Host()+"/acme/hidden", "keys"
	case aboutEnvironment:
		values["environment"], values["component"] = "classified", "audit"
	case aboutApplication:
		values["application"], values["component"] = "vault", "seals"
	}
	for word, value := range values {
		request = strings.ReplaceAll(request, "{"+word+"}", url.QueryEscape(value))
	}
	return request
}
