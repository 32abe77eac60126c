package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/verb"
)

// Each route of the service, each verb of the API and the dashboard, and each principal gets the answer of the
// tables. What is refused is not recorded.
func TestEntrances_overHTTP(t *testing.T) {
	t.Parallel()
	closed, public := newEntranceWorld(t, false), newEntranceWorld(t, true)
	entrancesCover(t, "routes", closed.routes, slices.Concat(slices.Collect(maps.Values(routesOf()))...))
	world := func(principal string) *entranceWorld {
		if principal == "public" {
			return public
		}
		return closed
	}
	for _, w := range []*entranceWorld{closed, public} {
		w.delivery = w.deliver()
		w.ask("poster", aboutInside, http.MethodPost, w.snapshotPath(aboutInside), w.snapshotBody())
	}
	closed.showsEverything()
	api, pages, open := apiTable(t), pageTable(t), openTable(t)
	entrancesCover(t, api.title, append(decisionWords(), "read", "reconcile", "replay", "report", "snapshot", "description"), api.whats())
	forms := []string{"read"}
	for _, one := range verb.Decisions() {
		forms = append(forms, string(one), "open form of "+string(one))
	}
	entrancesCover(t, pages.title, forms, pages.whats())
	api.compare(t, func(row entranceRow, principal string) string { return world(principal).ofAPI(row, principal) })
	pages.compare(t, func(row entranceRow, principal string) string { return world(principal).ofPages(row, principal) })
	open.compare(t, func(row entranceRow, principal string) string { return world(principal).ofOthers(row, principal) })
	closed.recordedOnly()
	public.recordedOnly()
}

// decisionWords are the decisions, and those with a bypass.
func decisionWords() []string {
	words := []string{"bypass", "rollback with bypass"}
	for _, one := range verb.Decisions() {
		words = append(words, string(one))
	}
	return words
}

// deliver sends a webhook, and returns its ID.
func (w *entranceWorld) deliver() string {
	w.t.Helper()
	body := w.expand(`{"image": "$R/acme/web:1.1.0"}`)
	if answer, text := w.webhook("generic", tokenOf("hook-generic"), body); answer != answerYes {
		w.t.Fatalf("%s %s", answer, text)
	}
	_, text := w.ask("admin", aboutEverything, http.MethodGet, "/api/v1/deliveries", "")
	var page struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &page); err != nil || len(page.Items) == 0 || page.Items[0].ID == "" {
		w.t.Fatalf("%v: %s", err, text)
	}
	return page.Items[0].ID
}

// showsEverything fails unless each route that reads shows a principal without limits what scopes hide: otherwise, no
// row about it could fail.
func (w *entranceWorld) showsEverything() {
	w.t.Helper()
	requests := app.ReadRequests()
	for _, route := range slices.Concat(routesOf()["API: read"], routesOf()["pages: read"]) {
		shown := ""
		for _, request := range requests[route] {
			for about := range hiddenTexts() {
				_, text := w.ask("read", aboutEverything, http.MethodGet, w.named(request, about), "")
				shown += hiddenIn(text, request, about)
			}
		}
		if shown == "" && !slices.Contains(showNothing(), route) {
			w.t.Errorf("%s shows nothing that a scope would hide", route)
		}
	}
}

// showNothing are routes that name no target: webhooks belong to no repository, and streams are not read here, but by
// TestRoutes_streamsHideChanges.
func showNothing() []string {
	return []string{"GET /api/v1/deliveries", "GET /api/v1/changes", "GET /changes"}
}

// hiddenIn returns what a scope hides in the answer to a request about something; empty: nothing. A request that names it
// may be answered with that name.
func hiddenIn(text, request, about string) string {
	for other, texts := range hiddenTexts() {
		if strings.Contains(text, texts[1]) {
			return texts[1]
		}
		if (other != about || !strings.Contains(request, "{")) && strings.Contains(text, texts[0]) {
			return texts[0]
		}
	}
	return ""
}

// reads asks all of some routes. Their answers must be the same; where something is outside, the most that one shows.
func (w *entranceWorld) reads(routes []string, about, principal string) string {
	w.t.Helper()
	requests := app.ReadRequests()
	got := ""
	for _, route := range routes {
		if strings.HasPrefix(route, "HEAD") {
			continue
		}
		var answer string
		if about == aboutInside {
			i := max(0, slices.IndexFunc(requests[route], func(one string) bool { return strings.Contains(one, "{repository}") }))
			answer, _ = w.ask(principal, about, http.MethodGet, w.named(requests[route][i], about), "")
		} else {
			answer = w.readsOutside(requests[route], principal)
		}
		if got != "" && answer != got {
			return fmt.Sprintf("%s: %s, and others %s", route, answer, got)
		}
		got = answer
	}
	return got
}

// readsOutside returns absent unless some answer has a version that the scope hides.
func (w *entranceWorld) readsOutside(requests []string, principal string) string {
	w.t.Helper()
	for about := range hiddenTexts() {
		for _, request := range requests {
			if strings.Contains(request, "{key}") {
				continue
			}
			answer, text := w.ask(principal, aboutOutside, http.MethodGet, w.named(request, about), "")
			if found := hiddenIn(text, request, about); found != "" {
				return answerYes + ": " + found + " in " + request
			}
			if answer == answerSecret || answer == answerSignIn || answer == answerNo {
				return answer
			}
		}
	}
	return answerAbsent
}

// ofAPI executes a row of apiTable.
func (w *entranceWorld) ofAPI(row entranceRow, principal string) (answer string) {
	w.t.Helper()
	switch row.what {
	case "read":
		return w.reads(routesOf()["API: read"], row.about, principal)
	case "description":
		answer, _ = w.ask(principal, row.about, http.MethodGet, "/api/v1/openapi.yaml", "")
	case "reconcile":
		w.wait(3 * time.Second) // so that no principal requests it too often
		answer, _ = w.ask(principal, row.about, http.MethodPost, w.named("/api/v1/repositories/{repository}/reconcile", row.about), "")
	case "replay":
		answer, _ = w.ask(principal, row.about, http.MethodPost, "/api/v1/replay", fmt.Sprintf(`{"id": %q, "dryRun": true}`, w.delivery))
	case "report":
		place, repository := "dev", "gitops"
		if principal == "health" {
			place = "staging"
		}
		switch row.about {
		case aboutEnvironment:
			place = "classified"
		case aboutRepository:
			repository = "hidden"
		}
		answer, _ = w.ask(principal, row.about, http.MethodPost, "/api/v1/evidence", fmt.Sprintf(
			`{"repository": "%s/acme/%s", "environment": %q, "status": "Healthy", "revision": %q}`, w.forge.Host(), repository, place, w.first))
	case "snapshot":
		answer, _ = w.ask(principal, row.about, http.MethodPost, w.snapshotPath(row.about), w.snapshotBody())
	default:
		body, reason := w.decision(row)
		answer, _ = w.ask(principal, row.about, http.MethodPost, "/api/v1/decisions", body)
		w.reasons[reason] = answer == answerYes
	}
	return answer
}

func (w *entranceWorld) snapshotPath(about string) string {
	return "/api/v1/snapshots?" + w.named("repository={repository}&application={application}", about)
}

func (w *entranceWorld) snapshotBody() string {
	return w.expand(`{"name": "release-1", "components": {"web": "$R/acme/web:1.1.0"}}`)
}

// reason returns a reason that no other decision has. The time passes, so that no principal decides too often.
func (w *entranceWorld) reason() string {
	w.wait(3 * time.Second)
	return fmt.Sprintf("row-%d-", len(w.reasons))
}

// decision returns the request for a row.
func (w *entranceWorld) decision(row entranceRow) (body, reason string) {
	reason = w.reason()
	request := map[string]any{"repository": w.named("acme/gitops", ""), "environment": "dev", "application": "shop", "reason": reason, "verb": row.what}
	switch row.about {
	case aboutEverything, aboutMore:
		delete(request, "environment")
		delete(request, "application")
		request["all"] = true
	case aboutEnvironment:
		request["environment"] = "classified"
	case aboutApplication:
		request["application"] = "vault"
	case aboutRepository:
		request["repository"] = "acme/hidden"
	}
	switch row.what {
	case "freeze", "thaw":
		delete(request, "application")
	case "reject", "unreject":
		request["images"] = []string{"web:1.1.0"}
	case "rollback":
		request["to"] = w.first
	case "bypass":
		request["verb"], request["bypass"] = "promote", []string{"soak"}
	case "rollback with bypass":
		request["verb"], request["bypass"], request["to"] = "rollback", []string{"windows"}, w.first
	}
	encoded, _ := json.Marshal(request) // texts
	return string(encoded), reason
}

// ofPages executes a row of pageTable.
func (w *entranceWorld) ofPages(row entranceRow, principal string) string {
	w.t.Helper()
	if row.what == "read" {
		return w.reads(routesOf()["pages: read"], row.about, principal)
	}
	what, opens := strings.CutPrefix(row.what, "open form of ")
	path := w.named("/applications/{application}/decide?repository={repository}&environment={environment}&verb="+what, row.about)
	scope := row.about
	if row.about == aboutMore {
		scope = aboutApplication
	}
	if opens {
		answer, _ := w.ask(principal, scope, http.MethodGet, path, "")
		return answer
	}
	reason := w.reason()
	form := url.Values{"reason": {reason}, "confirmed": {"on"}}
	switch what {
	case "reject", "unreject":
		form.Set("versions", "web:1.1.0")
	case "rollback":
		form.Set("to", w.first)
	}
	answer, _ := w.ask(principal, scope, http.MethodPost, path, form.Encode())
	w.reasons[reason] = answer == answerYes
	return answer
}

// ofOthers executes a row of openTable.
func (w *entranceWorld) ofOthers(row entranceRow, principal string) string {
	w.t.Helper()
	got := ""
	for _, route := range routesOf()[row.what] {
		method, path, _ := strings.Cut(route, " ")
		given := secretOf(principal, row.about)
		if given == "" {
			given = "nothing"
		}
		body := ""
		if path == "/sign-in" && method == http.MethodPost {
			body = url.Values{"token": {given}}.Encode()
		}
		path = strings.NewReplacer(
			":file", "style.css", ":token", given, ":application", "shop.svg?"+w.named("repository={repository}", ""), ":forge", "hub", ":secret", given,
		).Replace(path)
		answer, text := w.ask(principal, row.about, method, path, body)
		if answer == answerSignIn && method == http.MethodPost { // where signing out ends
			answer = answerYes
		}
		if got != "" && answer != got {
			return fmt.Sprintf("%s: %s %s, and others %s", route, answer, text, got)
		}
		got = answer
	}
	return got
}

// recordedOnly compares the state branches with the decisions that were answered as recorded: no refusal wrote
// something.
func (w *entranceWorld) recordedOnly() {
	w.t.Helper()
	written := w.written()
	for reason, recorded := range w.reasons {
		if strings.Contains(written, reason) && !recorded {
			w.t.Errorf("a decision was refused and is on the state branch: %s", reason)
		}
	}
}

// written returns the messages of all commits on the state branches.
func (w *entranceWorld) written() (messages string) {
	w.t.Helper()
	for _, name := range []string{"acme/gitops", "acme/hidden"} {
		if git := w.forge.Repository(name).Git; git.Head("promoter/_state") != "" {
			messages += git.Run("log", "--format=%B", "promoter/_state")
		}
	}
	return messages
}
