package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/delivery"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/secret"
	"promoter/internal/store"
	"promoter/internal/verb"
	"promoter/internal/view"
	"promoter/internal/web"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const (
	everything = "everything-0123456789abcdef01234567"
	onlyShop   = "only-shop-0123456789abcdef012345678"
	onlyBadges = "badge0123456789abcdef0123456789abcdef"
	onlyDev    = "only-dev-0123456789abcdef0123456789"
	operates   = "operates-0123456789abcdef0123456789" // cart in staging
)

// world is the dashboard of a database.
type world struct {
	*httptest.Server
	t         testing.TB
	db        *database.DB
	store     *store.Store
	logs      *strings.Builder
	reader    *reader
	sessions  *access.Sessions
	decisions *decisions
	clock     atomic.Pointer[time.Time] // of the database
}

// newWorld serves an empty database.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, logs: &strings.Builder{}, reader: &reader{}, decisions: &decisions{}}
	w.clock.Store(&noon)
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: func() time.Time { return *w.clock.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w.db, w.store = db, store.New(db)
	now := func() time.Time { return noon }
	log := slog.New(slog.NewTextHandler(w.logs, nil))
	changes := &api.Changes{Store: w.store, Log: log, Every: 50 * time.Millisecond}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = changes.Run(running) }()
	t.Cleanup(func() { stop(); <-ended })
	e := echo.New()
	w.sessions = &access.Sessions{
		Key: secret.New(strings.Repeat("k", access.MinSessionKey)), Now: time.Now,
		Tokens: access.Tokens{
			{Principal: access.Principal{Name: "token everything", Token: true, Roles: []access.Role{access.Operate}}, Secret: secret.New(everything)},
			{Principal: access.Principal{Name: "token shop", Token: true, Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: []string{"github.com/acme/shop"}}}, Secret: secret.New(onlyShop)},
			{Principal: access.Principal{Name: "token dev", Token: true, Roles: []access.Role{access.Read}, Scope: access.Scope{Environments: []string{"dev"}}}, Secret: secret.New(onlyDev)},
			{Principal: access.Principal{Name: "token ops", Token: true, Roles: []access.Role{access.Operate}, Scope: access.Scope{Environments: []string{"staging"}, Applications: []string{"cart"}}}, Secret: secret.New(operates)},
		},
	}
	err = web.Pages(web.Options{
		Sessions: w.sessions, Decisions: w.decisions,
		Badges: access.Tokens{{
			Principal: access.Principal{Name: "badge readme", Roles: []access.Role{access.Read}, Scope: access.Scope{
				Repositories: []string{"github.com/acme/shop", "github.com/evil/**"}, Environments: []string{"dev", "staging"},
			}},
			Secret: secret.New(onlyBadges),
		}},
		View: &view.View{Store: w.store}, Reader: w.reader, Changes: changes,
		Metrics: func(ctx context.Context, query delivery.Query) (delivery.Report, error) {
			return delivery.Read(ctx, w.store.Milestones, query, noon)
		},
		Log: log, Now: now,
	})(e)
	if err != nil {
		t.Fatal(err)
	}
	w.Server = httptest.NewServer(e)
	t.Cleanup(w.Close)
	return w
}

// reader answers with a page of its events, and a fixed status.
type reader struct{ events []api.Event }

func (r *reader) History(_ context.Context, query api.HistoryQuery) (page api.History, err error) {
	if query.After != "" && query.After != "older" {
		return page, fault.New(fault.Invalid, "after is no next of an answer before")
	}
	for _, e := range r.events {
		if query.Readable != nil && !query.Readable(e.Repository, e.Environment, e.Application) {
			continue
		}
		if (query.Environment == "" || query.Environment == e.Environment) && (query.Application == "" || query.Application == e.Application) && !e.At.Before(query.Since) {
			page.Events = append(page.Events, e)
		}
	}
	if len(page.Events) > 1 && query.After == "" {
		page.Next = "older"
	}
	return page, nil
}

func (*reader) Status(context.Context) (api.Status, error) {
	return api.Status{
		Repositories: []api.Repository{
			{Name: "github.com/acme/billing", Key: "github:2", State: api.StateFailing, ReconciledAt: noon.Add(-3 * time.Hour), Failure: "quay.io: 503 Service Unavailable", Attempts: 2, FailedAt: noon.Add(-time.Minute), NextRun: noon.Add(2 * time.Minute)},
			{Name: "github.com/acme/shop", Key: "github:1", State: api.StateIdle, ReconciledAt: noon.Add(-5 * time.Minute), NextRun: noon.Add(10 * time.Minute), Drift: []drift.Drift{
				{Environment: "dev", Application: "cart", Message: "the files have another digest", File: "dev/cart.yaml", Line: 7},
			}},
		},
		Deliveries:    []view.Delivery{{Receiver: "github", ID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", EventType: "push", ReceivedAt: noon.Add(-5 * time.Minute), SeenAt: noon, Times: 2}},
		Schedules:     []api.Schedule{{Schedule: "poll", Repositories: 2, Last: noon.Add(-10 * time.Minute), Next: noon.Add(20 * time.Minute)}},
		Backoffs:      []api.Backoff{{Peer: "registry", Host: "quay.io", Until: noon.Add(2 * time.Minute), Reason: "503 Service Unavailable"}},
		Notifications: []api.Notification{{Destination: "releases", Waiting: 1, Failed: 1, SentAt: noon.Add(-time.Minute), FailedAt: noon, Error: "Slack responded 404 Not Found"}},
		Receivers:     []api.Receiver{{Receiver: "argo", Kind: "argocd", Repositories: []string{"github.com/acme/shop"}, ReportedAt: noon.Add(-time.Minute)}},
	}, nil
}

// save replaces the targets of a repository, as its reconciliation at a time does.
func (w *world) save(key, name string, at time.Time, targets []store.Target, events ...store.Event) {
	w.t.Helper()
	w.clock.Store(&at)
	err := w.db.Update(w.t.Context(), func(ctx context.Context, tx *database.Tx) error {
		if err := w.store.Targets.Set(ctx, tx, key, targets); err != nil {
			return err
		}
		for i := range events {
			events[i].Repository, events[i].Name = key, "github.com/"+name
		}
		_, err := w.store.RecordReconciliation(ctx, tx, store.Repository{Key: key, Forge: "github", Host: "github.com", Name: name}, store.HistoryUpdate{Events: events})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) setDrift(key string, found []drift.Drift) {
	w.t.Helper()
	text, err := json.Marshal(found)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.Update(w.t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return w.store.Targets.SetDrift(ctx, tx, key, string(text))
	}); err != nil {
		w.t.Fatal(err)
	}
}

func versions(texts ...string) []store.EventVersion {
	var found []store.EventVersion
	for _, text := range texts {
		component, tag, _ := strings.Cut(text, ":")
		found = append(found, store.EventVersion{Component: component, Repository: "quay.io/acme/" + component, Tag: tag})
	}
	return found
}

// brings adds a pull request of the source to the first version.
func brings(pull string, versions []store.EventVersion) []store.EventVersion {
	versions[0].SourcePullRequests = []string{pull}
	return versions
}

// seed fills two repositories with every state that a page shows.
func (w *world) seed() {
	until := noon.Add(90 * time.Minute)
	modes := store.TargetDetail{Propose: "auto", Land: "review"}
	w.save("github:1", "acme/shop", noon, []store.Target{
		{Environment: "dev", Application: "cart", State: "same", Current: versions("cart:1.6.0"), Detail: store.TargetDetail{Propose: "auto", Land: "push", Health: &store.TargetHealth{Status: "Healthy", Sync: "Synced", Since: noon.Add(-time.Hour)}}},
		{Environment: "dev", Application: "pay", State: "same", Current: versions("api:2.0.1", "worker:2.0.1"), Detail: modes},
		{Environment: "staging", Application: "cart", After: []string{"dev"}, State: "waiting", Rule: "condition", Message: "waits for dev soak: 30m of 2h", Until: until, Since: noon.Add(-30 * time.Minute), Current: versions("cart:1.5.2"), Wanted: versions("cart:1.6.0"), Branch: "main", Paths: []string{"staging/**"}, Detail: store.TargetDetail{
			Propose: "auto", Land: "review", Notes: []string{"the registry has 1.7.0-rc.1, which the range excludes"},
			Conditions: []promotion.Condition{{Name: "dev soak", State: promotion.Pending, Value: "30m of 2h", Reason: "landed 30m ago", Until: &until}, {Name: "dev healthy", State: promotion.Passed}},
		}},
		{Environment: "staging", Application: "pay", After: []string{"dev"}, State: "proposed", Rule: "parent", Message: "dev has it", Number: 41, URL: "https://github.com/acme/shop/pull/41", Current: versions("api:2.0.0", "worker:2.0.0"), Wanted: brings("github.com/acme/api#88", versions("api:2.0.1", "worker:2.0.1")), Detail: store.TargetDetail{
			Propose: "auto", Land: "review", Opened: noon.Add(-26 * time.Hour), ApprovedBy: []string{"ana"},
			Sources: []store.SourceChange{
				{
					Component: "api", Source: "github.com/acme/api", URL: "https://github.com/acme/api/compare/a...b", Total: 12, Release: "https://github.com/acme/api/releases/tag/v2.0.1",
					Commits: []store.SourceCommit{
						{ID: "58b5d4a3f1", Subject: "Round prices down (#88)", Author: "Cem", At: noon.Add(-50 * time.Hour), Number: 88, URL: "https://github.com/acme/api/pull/88"},
						{ID: "9a0c1e22b7", Subject: "Retry payments", At: noon.Add(-70 * time.Hour)},
					},
				},
				{Component: "worker", Unknown: "the new image has no label or annotation org.opencontainers.image.revision"},
			},
			Gates: []promotion.Condition{{Name: "review", State: promotion.Pending, Value: "1 of 2", Reason: "needs one more approval", Forge: true}},
		}},
		{Environment: "prod-eu", Application: "cart", After: []string{"staging"}, State: "waiting", Rule: "held", Message: "held by ana: the summer sale", Current: versions("cart:1.5.1"), Wanted: versions("cart:1.5.2"), Detail: store.TargetDetail{
			Title: "Production (Europe)", Propose: "auto", Land: "review", Hold: &store.TargetHold{Kind: store.HoldHold, By: "ana", At: noon.Add(-48 * time.Hour), Reason: "the summer sale", Scope: "prod-eu/cart"},
		}},
		{Environment: "prod-us", Application: "cart", After: []string{"staging"}, State: "rejected", Rule: "rejected", Message: "ben rejected 1.5.2", Current: versions("cart:1.5.1"), Wanted: versions("cart:1.5.2"), Detail: modes},
	},
		store.Event{At: noon.Add(-30 * time.Minute), Environment: "dev", Application: "cart", Action: store.EventLanded, Commit: "0123456789abcdef", Snapshot: "v1:a"},
		store.Event{At: noon.Add(-72 * time.Hour), Environment: "staging", Application: "cart", Action: store.EventLanded, Commit: "abcdef0123456789", Number: 40, URL: "https://github.com/acme/shop/pull/40"},
	)
	const shop = "github.com/acme/shop"
	w.reader.events = []api.Event{
		{At: noon.Add(-30 * time.Minute), Repository: shop, Environment: "dev", Application: "cart", Action: store.EventLanded, By: "promoter", Versions: []api.Version{{Component: "cart", Tag: "1.6.0", FromTag: "1.5.2"}}},
		{At: noon.Add(-26 * time.Hour), Repository: shop, Environment: "staging", Application: "pay", Action: store.EventOpened, PullRequest: &view.PullRequest{Number: 41, URL: "https://github.com/acme/shop/pull/41"}, Reason: &view.Reason{Message: "dev has it"}, Versions: []api.Version{{Component: "api", Tag: "2.0.1", FromTag: "2.0.0"}}},
		{At: noon.Add(-28 * time.Hour), Repository: "github.com/acme/billing", Environment: "prod", Application: "bill", Action: store.EventFailed, Reason: &view.Reason{Message: "Degraded for 15m"}},
		{At: noon.Add(-72 * time.Hour), Repository: shop, Environment: "staging", Application: "cart", Action: store.EventLanded, PullRequest: &view.PullRequest{Number: 40}, By: "ana", RequestedBy: "ben", RequestReason: "a fix for the sale", Bypassed: []string{"dev soak"}, Unproven: []string{"request"}, Versions: []api.Version{{Component: "cart", Digest: "sha256:0123456789abcdef", FromTag: "1.5.1"}}},
	}
	w.seedDetails()
	w.setDrift("github:1", []drift.Drift{{Environment: "dev", Application: "cart", Message: "the files have another digest", File: "dev/cart.yaml", Line: 7}})
	w.save("github:2", "acme/billing", noon.Add(-3*time.Hour), []store.Target{{
		Environment: "prod", Application: "bill", State: "same", Current: versions("bill:2"),
		Detail: store.TargetDetail{Propose: "auto", Land: "merge", Health: &store.TargetHealth{Status: "Degraded", Failure: "Degraded for 15m", Since: noon.Add(-20 * time.Minute), Message: "2 of 3 pods crash"}},
	}})
}

// seedDetails stores what was found in both repositories of seed.
func (w *world) seedDetails() {
	w.t.Helper()
	at := func(line int) config.Position { return config.Position{File: config.FileName, Line: line, Column: 5} }
	for key, detail := range map[string]store.RepositoryDetail{
		"github:1": {
			Config:   "version: 1\ncomponents:\n  cart:\n    image: quay.io/acme/cart\n    pin: keep\n",
			Problems: config.Problems{{Severity: config.SeverityWarning, Position: at(31), Message: "no gate uses the window night", Hint: "refer to it under gates.windows of an environment"}},
			Refused: store.List[store.RefusedFile]{Total: 3, Items: []store.RefusedFile{
				{Environment: "dev", Application: "cart", Refusal: edit.Refusal{File: "dev/cart.yaml", Line: 12, Component: "cart", Reason: "the tag stands alone"}},
				{Environment: "prod-eu", Application: "pay", Refusal: edit.Refusal{File: "prod-eu/pay.yaml", Reason: "larger than 1 MiB"}},
			}},
			Unfollowed: store.ListOf([]store.UnfollowedImage{{Branch: "main", File: "dev/cart.yaml", Line: 20, Image: "redis:7.2"}}),
		},
		"github:2": {Problems: config.Problems{{Severity: config.SeverityError, Position: at(2), Message: `unknown key "component" in the file`, Hint: "did you mean components?"}}},
	} {
		err := w.db.Update(w.t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return w.store.Details.Set(ctx, tx, key, store.FoundDigest{All: "a", Config: "b"}, detail)
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// browser keeps the cookies of a user.
type browser struct {
	*http.Client
	w *world
}

// signedIn returns a browser that has signed in.
func (w *world) signedIn(token string) *browser {
	w.t.Helper()
	b := w.browser()
	response, _ := b.post("/sign-in", url.Values{"token": {token}, "next": {"/"}})
	if response.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("the sign-in is %s", response.Status)
	}
	return b
}

func (w *world) browser() *browser {
	jar := cookies{}
	return &browser{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, w}
}

// cookies is a jar of one host, by name.
type cookies map[string]*http.Cookie

func (j cookies) SetCookies(_ *url.URL, set []*http.Cookie) {
	for _, one := range set {
		if delete(j, one.Name); one.MaxAge >= 0 {
			j[one.Name] = one
		}
	}
}

func (j cookies) Cookies(*url.URL) []*http.Cookie { return slices.Collect(maps.Values(j)) }

func (b *browser) post(path string, form url.Values) (response *http.Response, page string) {
	b.w.t.Helper()
	request, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodPost, b.w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.send(request)
}

// csrf returns the token of the forms of the session.
func (b *browser) csrf() string {
	b.w.t.Helper()
	_, page := b.get("/")
	_, rest, _ := strings.Cut(page, `name="csrf" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}

func (b *browser) get(path string) (*http.Response, string) {
	b.w.t.Helper()
	request, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodGet, b.w.URL+path, http.NoBody)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return b.send(request)
}

func (b *browser) send(request *http.Request) (response *http.Response, page string) {
	b.w.t.Helper()
	response, err := b.Do(request)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return response, string(text)
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	blanks = regexp.MustCompile(`[ \t]+`)
	lines  = regexp.MustCompile(`\n\s*\n+`)
)

// textOf is what a user reads of a page: a line for each block, tabs between cells.
func textOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page = "<main" + page
	page = regexp.MustCompile(`\s*\n\s*`).ReplaceAllString(page, "\n")
	page = strings.ReplaceAll(page, "</td>\n", "</td>")
	page = regexp.MustCompile(`<(div|span class="soft")`).ReplaceAllString(page, " $0")
	page = strings.ReplaceAll(page, "</dt>", ": ")
	page = regexp.MustCompile(`</(td|th)>`).ReplaceAllString(page, " | ")
	page = regexp.MustCompile(`</(dd|div|p|tr|h1|h2|caption|text|label|thead)>|<br>`).ReplaceAllString(page, "\n")
	page = strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&amp;", "&").Replace(tags.ReplaceAllString(page, ""))
	page = lines.ReplaceAllString(blanks.ReplaceAllString(page, " "), "\n")
	return strings.TrimSpace(page) + "\n"
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	all, shop := w.signedIn(everything), w.signedIn(onlyShop)
	for name, test := range map[string]struct {
		browser *browser
		path    string
	}{
		"overview":         {all, "/"},
		"overview-open":    {all, "/?status=open"},
		"overview-search":  {all, "/?search=bill"},
		"overview-nothing": {all, "/?search=%3Cnone%3E"},
		"overview-shop":    {shop, "/"},
		"application":      {all, "/applications/cart?repository=github.com%2Facme%2Fshop"},
		"application-open": {all, "/applications/pay?repository=acme%2Fshop"},
		"application-shop": {shop, "/applications/cart?repository=acme%2Fshop"},
		"decide-hold":      {all, decidePath("cart", "prod-eu", verb.Hold)},
		"decide-reject":    {all, decidePath("cart", "staging", verb.Reject)},
		"decide-freeze":    {all, decidePath("cart", "dev", verb.Freeze)},
		"decide-rollback":  {w.signedIn(operates), decidePath("cart", "staging", verb.Rollback)},
		"history":          {all, "/history"},
		"history-shop":     {shop, "/history"},
		"history-older":    {all, "/history?after=older"},
		"history-filtered": {all, "/history?environment=staging&application=cart&since=30d"},
		"repository":       {all, "/repositories/github.com%2Facme%2Fshop"},
		"repository-bad":   {all, "/repositories/acme%2Fbilling"},
		"repository-dev":   {w.signedIn(onlyDev), "/repositories/acme%2Fshop"},
		"activity":         {all, "/activity"},
		"activity-shop":    {shop, "/activity"},
	} {
		response, page := test.browser.get(test.path)
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", test.path, response.Status)
		}
		golden(t, name, textOf(page))
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s differs (%v); run with -update and read the difference:\n%s", file, err, got)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := w.browser()
	for _, path := range []string{"/", "/?status=open", "/applications/cart", "/history", "/activity"} {
		response, _ := b.get(path)
		if want := "/sign-in?" + (url.Values{"next": {path}}).Encode(); response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != want {
			t.Errorf("%s: %s to %q, want %q", path, response.Status, response.Header.Get("Location"), want)
		}
	}
	if response, _ := b.get("/changes"); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the changes are %s", response.Status)
	}
	if response, _ := b.post("/sign-in", url.Values{"token": {"wrong"}}); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong token is %s", response.Status)
	}
	for next, want := range map[string]string{"/history?since=7d": "/history?since=7d", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "": "/"} {
		response, _ := w.browser().post("/sign-in", url.Values{"token": {everything}, "next": {next}})
		if got := response.Header.Get("Location"); got != want {
			t.Errorf("after the sign-in, %q leads to %q", next, got)
		}
	}
	b = w.signedIn(everything)
	if response, _ := b.post("/sign-out", nil); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a sign-out that no page sent is %s", response.Status)
	}
	if response, _ := b.post("/sign-out", url.Values{"csrf": {b.csrf()}}); response.StatusCode != http.StatusSeeOther {
		t.Errorf("the sign-out is %s", response.Status)
	}
	if response, _ := b.get("/"); response.StatusCode != http.StatusSeeOther {
		t.Errorf("after the sign-out, the overview is %s", response.Status)
	}
}

func TestPages_scope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	shop := w.signedIn(onlyShop)
	if response, page := shop.get("/repositories/acme%2Fbilling"); response.StatusCode != http.StatusNotFound || strings.Contains(page, "did you mean") {
		t.Errorf("a repository out of the scope is %s", response.Status)
	}
	if response, page := shop.get("/applications/bill?repository=acme%2Fbilling"); response.StatusCode != http.StatusNotFound || strings.Contains(page, "bill:2") {
		t.Errorf("an application out of the scope is %s", response.Status)
	}
}

func TestPages_errors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := w.signedIn(everything)
	for path, want := range map[string]int{
		"/?status=none": 400, "/?color=red": 400, "/?after=%21": 400, "/history?since=long": 400, "/history?after=x": 400, "/activity?x=1": 400,
		"/applications/none?repository=acme%2Fshop": 404, "/applications/cart?repository=": 400, "/static/none.css": 404, "/static/..%2Fweb.go": 404,
	} {
		if response, _ := b.get(path); response.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, response.Status, want)
		}
	}
	_ = w.db.Close()
	response, page := b.get("/")
	if response.StatusCode != http.StatusInternalServerError || !strings.Contains(page, "the log of the service has the reason") || !strings.Contains(w.logs.String(), "page failed") {
		t.Errorf("without a database: %s, %s, log %s", response.Status, textOf(page), w.logs)
	}
}

// Names and messages come from repositories and registries.
func TestPages_escapeHostileTexts(t *testing.T) {
	t.Parallel()
	const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>/..`
	w := newWorld(t)
	w.save("github:3", "evil/"+hostile, noon, []store.Target{{
		Environment: hostile, Application: hostile, State: "proposed", Message: hostile, Number: 1, URL: "javascript:alert(3)",
		Current: versions(hostile + ":" + hostile), Wanted: versions(hostile + ":" + hostile + "2"), After: []string{hostile}, Branch: hostile, Paths: []string{hostile},
		Detail: store.TargetDetail{
			Notes: []string{hostile}, Left: []string{hostile}, ApprovedBy: []string{hostile}, Health: &store.TargetHealth{Status: hostile, Message: hostile},
			Hold: &store.TargetHold{Kind: hostile, By: hostile, Reason: hostile, Scope: hostile, Applies: hostile}, Conditions: []promotion.Condition{{Name: hostile, State: hostile, Reason: hostile, Value: hostile}},
		},
	}})
	w.reader.events = []api.Event{{At: noon, Environment: hostile, Application: hostile, Repository: hostile, Action: hostile, By: hostile, Reason: &view.Reason{Message: hostile}, PullRequest: &view.PullRequest{Number: 1, URL: "javascript:alert(4)"}, Versions: []api.Version{{Component: hostile, Tag: hostile}}}}
	w.setDrift("github:3", []drift.Drift{{Environment: hostile, Application: hostile, Message: hostile, File: hostile}})
	b := w.signedIn(everything)
	paths := []string{"/", "/history", "/where?q=" + url.QueryEscape(hostile), "/?search=" + url.QueryEscape(hostile), "/applications/" + url.PathEscape(hostile) + "?repository=github%3A3"}
	for _, what := range verb.Decisions() {
		paths = append(paths, "/applications/"+url.PathEscape(hostile)+"/decide?"+url.Values{"repository": {"github:3"}, "environment": {hostile}, "verb": {string(what)}}.Encode())
	}
	for _, path := range paths {
		response, page := b.get(path)
		lower := strings.ToLower(page)
		if response.StatusCode != http.StatusOK || !strings.Contains(page, "alert(1)") {
			t.Errorf("%s: %s without the text", path, response.Status)
		}
		for _, bad := range []string{"<script>", "<img", `href="javascript:`, "onerror=alert(2)>"} {
			if strings.Contains(lower, bad) {
				t.Errorf("%s contains %s", path, bad)
			}
		}
	}
}

func TestPages_headers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, b := range []*browser{w.browser(), w.signedIn(everything)} {
		for _, path := range []string{"/", "/sign-in", "/history", "/?status=none"} {
			response, page := b.get(path)
			policy := response.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: policy %q", path, policy)
			}
			if response.Header.Get("Cache-Control") != "no-store" || response.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: headers %v", path, response.Header)
			}
			for _, forbidden := range []string{" style=", " onclick=", "<style", "<script>", "hx-on"} {
				if strings.Contains(page, forbidden) {
					t.Errorf("%s contains %s", path, forbidden)
				}
			}
		}
	}
	response, script := w.browser().get("/static/live.js")
	if !strings.Contains(response.Header.Get("Cache-Control"), "immutable") || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/javascript") || !strings.Contains(script, "EventSource") {
		t.Errorf("the script: %v", response.Header)
	}
}

// fill stores applications in four environments, in repositories of 100.
func (w *world) fill(applications int) {
	for repository := range (applications + 99) / 100 {
		var targets []store.Target
		for _, environment := range []string{"dev", "staging", "prod-eu", "prod-us"} {
			for i := range min(100, applications-repository*100) {
				state := []string{"same", "waiting", "proposed", "same", "same"}[(i+len(environment))%5]
				target := store.Target{Environment: environment, Application: fmt.Sprintf("application-%03d", i), State: state, Current: versions("web:1.4.2"), Detail: store.TargetDetail{Health: &store.TargetHealth{Status: "Healthy"}}}
				if state != "same" {
					target.Wanted, target.Message, target.Until = versions("web:1.5.0"), "waits for dev soak: 30m of 2h", noon.Add(time.Hour)
				}
				if state == "proposed" {
					target.Number, target.URL = i+1, "https://github.com/acme/shop/pull/1"
				}
				targets = append(targets, target)
			}
		}
		w.save(fmt.Sprintf("github:%d", repository), fmt.Sprintf("acme/repository-%02d", repository), noon, targets)
	}
}

// The page of 2,000 applications takes at most three times as long as the database.
func BenchmarkOverview(b *testing.B) {
	w := newWorld(b)
	w.fill(2000)
	user := w.signedIn(everything)
	var database, page time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := w.store.Targets.Overview(b.Context()); err != nil {
			b.Fatal(err)
		}
		database += time.Since(begin)
		begin = time.Now()
		if _, text := user.get("/"); strings.Count(text, "<tr>") != 2000+2000/50 {
			b.Fatal("the page is not whole")
		}
		page += time.Since(begin)
	}
	b.ReportMetric(float64(database.Microseconds())/1000/float64(b.N), "database-ms/op")
	b.ReportMetric(float64(page.Microseconds())/1000/float64(b.N), "page-ms/op")
	b.ReportMetric(float64(page)/float64(cmp.Or(database, 1)), "page/database")
}
