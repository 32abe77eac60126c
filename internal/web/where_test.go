package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestWhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	all, shop := w.signedIn(everything), w.signedIn(onlyShop)
	for name, test := range map[string]struct {
		browser *browser
		path    string
	}{
		"where":           {all, "/where?q=1.6.0"},
		"where-source":    {all, "/where?q=acme/api%2388"},
		"where-nothing":   {all, "/where?q=9.9.9"},
		"where-empty":     {all, "/where?q=+"},
		"where-elsewhere": {shop, "/where?q=quay.io%2Facme%2Fbill%3A2"},
	} {
		response, page := test.browser.get(test.path)
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", test.path, response.Status)
		}
		golden(t, name, textOf(page))
	}
	for path, want := range map[string]int{"/where?q=x": 400, "/where?version=1.6.0": 400, "/where?q=" + strings.Repeat("x", 301): 400} {
		if response, _ := all.get(path); response.StatusCode != want {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

// The search is on every page, needs no mouse, and leads to the environment and the application.
func TestBrowser_where(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.Run(chromedp.SendKeys(".find input", "1.6.0"+kb.Enter), chromedp.WaitVisible(`//h1[text()="Where is 1.6.0?"]`))
	if text := b.Text(`document.querySelector("#live").innerText`); !strings.Contains(text, "cart 1.6.0") || !strings.Contains(text, "not there") {
		t.Errorf("the version: %s", text)
	}
	b.Run(chromedp.Click(`svg a[href="#version-1-2"]`, chromedp.NodeVisible))
	if hash := b.Text("location.hash"); hash != "#version-1-2" {
		t.Errorf("the graph leads to %q", hash)
	}
	b.Run(chromedp.Focus(`//section//a[text()="cart"]`), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//h1[text()="cart"]`))
}
