package app_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"promoter/internal/app"
	"promoter/internal/web/webtest"
)

// requested is a config with an environment that waits for a request.
const requested = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  staging: {paths: ["staging/{application}.yaml"], after: [dev], propose: manual}
  prod: {paths: ["prod/{application}.yaml"], after: [staging]}
`

// A user decides on the dashboard: a hold with a reason, and a promotion, which ends in a pull
// request. The open page shows each result without being loaded again.
func TestServe_decisionsInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", requested)
	file := s.serverFile("verbs.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
repositories: [{forge: forge, name: acme/gitops}]
api: {tokens: {ops: {token: "env:API", roles: [operate]}}}
receivers: {images: {kind: generic, secret: "env:HOOK", header: X-Signature}}
`, filepath.Join(s.dir, "data")))
	w := s.launch(openService(t, file, s.secrets(), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1})
	w.reconciles()
	w.publish("web", "1.1.0")
	s.pulls()

	b := webtest.Open(t, w.url+"/")
	b.SignIn(serveToken)
	shown := func(section, text string) chromedp.Action {
		return b.Until(fmt.Sprintf(`document.querySelector("#environment-%s")?.innerText.includes(%q)`, section, text))
	}
	decide := func(environment, verb, reason string) {
		t.Helper()
		link := fmt.Sprintf(`//a[@aria-label=%q]`, verb+" in "+environment)
		b.Run(b.Until(`document.body.dataset.live === "on"`), chromedp.Focus(link), chromedp.KeyEvent(kb.Enter),
			chromedp.WaitVisible("#reason"), chromedp.SendKeys("#reason", reason+kb.Enter), chromedp.WaitVisible(".outcome"))
		if text := b.Text(`document.querySelector(".outcome").innerText`); !strings.Contains(text, verb+" shop in "+environment+": "+reason) || !strings.Contains(text, "Recorded as token ops") {
			t.Errorf("the result is %s", text)
		}
	}
	const staging, prod = "2", "3" // in the order of the config
	b.Run(chromedp.Click(`//th/a[text()="shop"]`), chromedp.WaitVisible(`//h1[text()="shop"]`), shown(staging, "waiting for a request"))
	decide("prod", "Hold", "incident 42")
	b.Run(shown(prod, "by token ops"), shown(prod, "incident 42"), shown(staging, "waiting for a request"))
	decide("staging", "Promote", "for the testers")
	b.Run(shown(staging, "#1"))
	s.pulls(stagingHead + " open")
	b.Run(chromedp.Navigate(w.url+"/history"), chromedp.WaitVisible("#live"))
	if text := b.Text(`document.querySelector("#live").innerText`); !strings.Contains(text, "incident 42") || !strings.Contains(text, "requested: for the testers") || !strings.Contains(text, "token ops") {
		t.Errorf("the history has %s", text)
	}
	w.stop()
	s.calm()
}
