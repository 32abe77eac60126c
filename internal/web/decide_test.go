package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/verb"
)

// decisions records what was decided, and answers with an error or a result.
type decisions struct {
	mutex   sync.Mutex
	by      []string
	decided []api.Decision
	result  api.Decided
	err     error
}

func (d *decisions) Decide(_ context.Context, by access.Principal, request api.Decision) (api.Decided, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.err != nil {
		return api.Decided{}, d.err
	}
	d.by, d.decided = append(d.by, by.Name), append(d.decided, request)
	result := d.result
	if result.Subject == "" {
		result.Subject = fmt.Sprintf("%s %s in %s: %s", request.Verb.Title(), request.Application, request.Environment, request.Reason)
	}
	result.By.Login = by.Name
	return result, nil
}

// all returns what was decided since the last call.
func (d *decisions) all() []api.Decision {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	all := d.decided
	d.decided = nil
	return all
}

func decidePath(application, environment string, what verb.Verb) string {
	return "/applications/" + application + "/decide?" + url.Values{"repository": {"github.com/acme/shop"}, "environment": {environment}, "verb": {string(what)}}.Encode()
}

// decide sends the form of a verb.
func (b *browser) decide(environment string, what verb.Verb, form url.Values) (*http.Response, string) {
	b.w.t.Helper()
	form.Set("csrf", b.csrf())
	return b.post(decidePath("cart", environment, what), form)
}

// What is held can be resumed, and what is not can be held.
func TestApplication_offersWhatApplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := w.signedIn(everything)
	_, page := b.get("/applications/cart?repository=" + url.QueryEscape("github.com/acme/shop"))
	for environment, want := range map[string]string{
		"dev":     "Promote Hold Reject Rollback Freeze",
		"prod-eu": "Promote Resume Reject Rollback Freeze Thaw",   // held
		"prod-us": "Promote Hold Reject Unreject Rollback Freeze", // a version was rejected
	} {
		var got []string
		for _, what := range verb.Decisions() {
			if strings.Contains(page, fmt.Sprintf(`aria-label="%s in %s"`, what.Title(), environment)) {
				got = append(got, what.Title())
			}
		}
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", environment, diff)
		}
	}
}

func TestDecide_recordsWhatTheFormSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := w.signedIn(everything)
	end := noon.Add(72 * time.Hour)
	const why = "a reason"
	for name, test := range map[string]struct {
		what verb.Verb
		form url.Values
		want api.Decision
	}{
		"hold":            {verb.Hold, url.Values{}, api.Decision{Environment: "staging", Application: "cart"}},
		"hold everywhere": {verb.Hold, url.Values{"wide": {"yes"}}, api.Decision{Application: "cart", All: true}},
		"resume":          {verb.Resume, url.Values{"confirmed": {"yes"}, "until": {"3d"}}, api.Decision{Environment: "staging", Application: "cart"}},
		"promote":         {verb.Promote, url.Values{}, api.Decision{Environment: "staging", Application: "cart"}},
		"promote what":    {verb.Promote, url.Values{"versions": {" cart:1.7.0\r\n\r\nweb@sha256:1 "}, "wide": {"yes"}}, api.Decision{Environment: "staging", Application: "cart", With: []string{"cart:1.7.0", "web@sha256:1"}}},
		"reject":          {verb.Reject, url.Values{"versions": {"cart:1.6.0"}, "confirmed": {"yes"}}, api.Decision{Environment: "staging", Application: "cart", Images: []string{"cart:1.6.0"}}},
		"unreject":        {verb.Unreject, url.Values{"versions": {"cart:1.6.0"}, "confirmed": {"yes"}}, api.Decision{Environment: "staging", Application: "cart", Images: []string{"cart:1.6.0"}}},
		"rollback":        {verb.Rollback, url.Values{"confirmed": {"yes"}}, api.Decision{Environment: "staging", Application: "cart"}},
		"rollback to":     {verb.Rollback, url.Values{"confirmed": {"yes"}, "to": {"58b5d4a"}}, api.Decision{Environment: "staging", Application: "cart", To: "58b5d4a"}},
		"freeze":          {verb.Freeze, url.Values{}, api.Decision{Environment: "staging"}},
		"freeze until":    {verb.Freeze, url.Values{"until": {"3d"}, "wide": {"yes"}}, api.Decision{Until: &end, All: true}},
		"thaw":            {verb.Thaw, url.Values{}, api.Decision{Environment: "staging"}},
	} {
		test.want.Repository, test.want.Verb, test.want.Reason = "github:1", test.what, why
		test.form.Set("reason", why)
		response, page := b.decide("staging", test.what, test.form)
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || got != "/applications/cart?repository=github.com%2Facme%2Fshop" {
			t.Errorf("%s: %s to %q\n%s", name, response.Status, got, textOf(page))
		}
		if diff := cmp.Diff([]api.Decision{test.want}, w.decisions.all(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The page of the application shows the result, once.
func TestDecide_showsTheResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := w.signedIn(everything)
	const application = "/applications/cart?repository=github.com%2Facme%2Fshop"
	b.decide("staging", verb.Hold, url.Values{"reason": {"<b>the sale</b>"}})
	if _, page := b.get("/applications/cart?repository=acme%2Fshop&x=1"); strings.Contains(page, "Recorded") {
		t.Errorf("the page of an error has the result: %s", textOf(page))
	}
	if _, page := b.get(application); !strings.Contains(textOf(page), "Hold cart in staging: &lt;b&gt;the sale&lt;/b&gt;\nRecorded as token everything.") {
		t.Errorf("the page has no result: %s", textOf(page))
	}
	if _, page := b.get(application); strings.Contains(page, "Recorded as") {
		t.Errorf("the page has the result again: %s", textOf(page))
	}
	w.decisions.result = api.Decided{Unchanged: true, Effects: []string{"cart in staging is already on hold by ana"}}
	for range 100 {
		w.decisions.result.Effects = append(w.decisions.result.Effects, strings.Repeat("long ", 100))
	}
	b.decide("staging", verb.Hold, url.Values{"reason": {"again"}})
	if _, page := b.get(application); !strings.Contains(textOf(page), "Nothing was written.\ncart in staging is already on hold by ana\nlong") {
		t.Errorf("unchanged: %s", textOf(page))
	}
	b.decide("staging", verb.Hold, url.Values{"reason": {"of another application"}})
	if _, page := b.get("/applications/pay?repository=github.com%2Facme%2Fshop"); strings.Contains(page, "Nothing was written") {
		t.Errorf("another application has the result: %s", textOf(page))
	}
}

// After an error, the form still has what the user wrote.
func TestDecide_showsErrorsInTheForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := w.signedIn(everything)
	for name, test := range map[string]struct {
		what   verb.Verb
		form   url.Values
		err    error
		status int
		want   string
	}{
		"no reason":          {verb.Hold, url.Values{"reason": {" "}, "wide": {"yes"}}, nil, 400, "write a reason"},
		"no confirmation":    {verb.Rollback, url.Values{"reason": {"why"}, "to": {"58b5d4a"}}, nil, 400, `confirm it: select "Roll back cart in staging"`},
		"nothing to reject":  {verb.Reject, url.Values{"reason": {"why"}, "confirmed": {"yes"}}, nil, 400, "write which versions to reject"},
		"no time":            {verb.Freeze, url.Values{"reason": {"why"}, "until": {"tomorrow"}}, nil, 400, `until: "tomorrow" is not a time`},
		"a time that passed": {verb.Freeze, url.Values{"reason": {"why"}, "until": {"2020-01-01"}}, nil, 400, "is past"},
		"no permission":      {verb.Hold, url.Values{"reason": {"why"}}, api.Forbidden("only users who may write to acme/shop may hold here"), 403, "only users who may write"},
		"no such version":    {verb.Promote, url.Values{"reason": {"why"}, "versions": {"none:1"}}, fault.New(fault.Invalid, "no component follows none"), 400, "no component follows none"},
		"too many":           {verb.Hold, url.Values{"reason": {"why"}}, fault.Limited(noon, errors.New("you decide more often than the service accepts")), 429, "more often"},
		"an internal error":  {verb.Hold, url.Values{"reason": {"why"}}, errors.New("a secret of the disk"), 500, "the log of the service has the reason"},
	} {
		w.decisions.err = test.err
		response, page := b.decide("staging", test.what, test.form)
		text := textOf(page)
		if response.StatusCode != test.status || !strings.Contains(text, test.want) || strings.Contains(text, "a secret of the disk") {
			t.Errorf("%s: %s\n%s", name, response.Status, text)
		}
		for field, values := range test.form {
			if written := strings.TrimSpace(values[0]); !strings.Contains(page, ">"+written+"</textarea>") && !strings.Contains(page, fmt.Sprintf(`name=%q value=%q`, field, written)) {
				t.Errorf("%s: the form lost the %s: %s", name, field, page)
			}
		}
	}
	if found := w.decisions.all(); len(found) > 0 {
		t.Errorf("decided %+v", found)
	}
	if !strings.Contains(w.logs.String(), "a secret of the disk") {
		t.Errorf("the log is %s", w.logs)
	}
}

func TestDecide_refuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	all, shop, ops := w.signedIn(everything), w.signedIn(onlyShop), w.signedIn(operates)
	for name, test := range map[string]struct {
		browser         *browser
		application, in string
		what            verb.Verb
		status          int
		want            string
	}{
		"a token that reads":          {shop, "cart", "staging", verb.Hold, 403, "needs the role operate"},
		"another environment":         {ops, "cart", "prod-eu", verb.Hold, 404, "has no environment"},
		"another application":         {ops, "pay", "staging", verb.Hold, 404, "no application"},
		"all applications":            {ops, "cart", "staging", verb.Freeze, 403, "not in your scope"},
		"an environment without it":   {all, "cart", "none", verb.Hold, 404, "has no environment"},
		"an application that is none": {all, "none", "staging", verb.Hold, 404, "no application"},
		"a verb that decides nothing": {all, "cart", "staging", verb.Explain, 400, "no verb of a decision"},
		"no verb":                     {all, "cart", "staging", "", 400, "no verb of a decision"},
	} {
		path := decidePath(test.application, test.in, test.what)
		if response, page := test.browser.get(path); response.StatusCode != test.status || !strings.Contains(page, test.want) {
			t.Errorf("%s: %s\n%s", name, response.Status, textOf(page))
		}
		form := url.Values{"csrf": {test.browser.csrf()}, "reason": {"why"}, "confirmed": {"yes"}}
		if response, page := test.browser.post(path, form); response.StatusCode != test.status || !strings.Contains(page, test.want) {
			t.Errorf("%s, sent: %s\n%s", name, response.Status, textOf(page))
		}
	}
	hold, why := decidePath("cart", "staging", verb.Hold), url.Values{"reason": {"why"}}
	if response, _ := all.post(hold, why); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a CSRF token: %s", response.Status)
	}
	why.Set("csrf", ops.csrf())
	if response, _ := all.post(hold, why); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("with the CSRF token of another session: %s", response.Status)
	}
	if response, _ := all.post(hold+"&csrf="+url.QueryEscape(all.csrf()), url.Values{"reason": {"why"}}); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("with the CSRF token in the URL: %s", response.Status)
	}
	// A scope that has one environment has no choice of all of them.
	ops.decide("staging", verb.Hold, url.Values{"reason": {"why"}, "wide": {"yes"}})
	if found := w.decisions.all(); len(found) != 1 || found[0].Environment != "staging" {
		t.Errorf("decided %+v", found)
	}
}

// Public readers see the page without any verb, and are asked to sign in.
func TestDecide_needsASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	w.sessions.Public = access.Principal{Name: "public", Roles: []access.Role{access.Read, access.Operate}}
	b := w.browser()
	if _, page := b.get("/applications/cart?repository=acme%2Fshop"); strings.Contains(page, "decide") {
		t.Errorf("the page is %s", textOf(page))
	}
	hold := decidePath("cart", "staging", verb.Hold)
	for _, send := range []func() (*http.Response, string){
		func() (*http.Response, string) { return b.get(hold) },
		func() (*http.Response, string) { return b.post(hold, url.Values{"reason": {"why"}}) },
	} {
		if response, _ := send(); response.StatusCode != http.StatusSeeOther || !strings.HasPrefix(response.Header.Get("Location"), "/sign-in?next=%2Fapplications%2Fcart%2Fdecide") {
			t.Errorf("%s to %s", response.Status, response.Header.Get("Location"))
		}
	}
	if found := w.decisions.all(); len(found) > 0 {
		t.Errorf("decided %+v", found)
	}
}

// A user decides as a user of the forge.
func TestDecide_needsALogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	w.sessions.OIDC = &access.Mapping{
		Issuer: "https://id.example.com", ClientID: "promoter", UserClaim: "login", UserForge: "github",
		Roles: []access.ClaimRoles{{Claim: "groups", Values: []string{"ops"}, Roles: []access.Role{access.Operate}}},
	}
	for login, want := range map[string]int{"ana": http.StatusOK, "": http.StatusForbidden} {
		b := w.browser()
		claims := map[string][]string{"groups": {"ops"}}
		if login != "" {
			claims["login"] = []string{login}
		}
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL, http.NoBody)
		if _, err := w.sessions.SignInIdentity(answer, request, access.Identity{Subject: "u-" + login, Claims: claims}); err != nil {
			t.Fatal(err)
		}
		b.Jar.SetCookies(nil, answer.Result().Cookies())
		if response, page := b.get(decidePath("cart", "staging", verb.Hold)); response.StatusCode != want {
			t.Errorf("%q: %s\n%s", login, response.Status, textOf(page))
		}
		if _, page := b.get("/applications/cart?repository=acme%2Fshop"); strings.Contains(page, "/decide?") != (login != "") || strings.Contains(page, "maps you to no user of a forge") != (login == "") {
			t.Errorf("%q: %s", login, textOf(page))
		}
	}
}

// The keyboard is enough, and an update of the page of the application keeps the focus.
func TestBrowser_decidesByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.Run(chromedp.Navigate(w.URL+"/applications/cart?repository=acme%2Fshop"), chromedp.WaitVisible("#live"), b.Until(`document.body.dataset.live === "on"`))
	b.Tabs("Reject")
	b.Run(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//h1[text()="Reject cart in dev"]`))
	if name := b.Text(`document.activeElement.name`); name != "reason" {
		t.Errorf("the focus is on %q", name)
	}
	b.Run(chromedp.KeyEvent("it leaks"+kb.Tab+"cart:1.6.0"), chromedp.KeyEvent(kb.Tab+kb.Tab+" "+kb.Tab+kb.Enter), chromedp.WaitVisible(".outcome"))
	if text := b.Text(`document.querySelector(".outcome").innerText`); !strings.Contains(text, "Reject cart in dev: it leaks") {
		t.Errorf("the result is %s", text)
	}
	if found := w.decisions.all(); len(found) != 1 || found[0].Images[0] != "cart:1.6.0" || found[0].Environment != "dev" {
		t.Errorf("decided %+v", found)
	}
}
