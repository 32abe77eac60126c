package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"promoter/internal/store"
	"promoter/internal/verb"
	"promoter/internal/web/webtest"
)

var screenshots = flag.String("screenshots", "", "a folder for screenshots of the pages")

// openTab starts Chromium, and signs in.
func openTab(t *testing.T, w *world) *webtest.Tab {
	t.Helper()
	b := webtest.Open(t, w.URL+"/")
	b.SignIn(everything)
	return b
}

func TestBrowser_matrixToApplication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	if text := b.Text(`document.querySelector("#live").innerText`); !strings.Contains(text, "1.5.2 → 1.6.0") || !strings.Contains(text, "held by ana: the summer sale") {
		t.Errorf("the matrix: %s", text)
	}
	// What is copied from a table has a tab between cells.
	if text := b.Text(`getSelection().selectAllChildren(document.querySelector(".matrix thead")), getSelection().toString()`); !strings.Contains(text, "Application\tdev\tprod") {
		t.Errorf("copied: %q", text)
	}
	b.Run(chromedp.Click(`//a[text()="cart"]`), chromedp.WaitVisible(`//h1[text()="cart"]`), chromedp.Click(`svg a[href="#environment-3"]`, chromedp.NodeVisible))
	if hash := b.Text("location.hash"); hash != "#environment-3" {
		t.Errorf("the graph leads to %q", hash)
	}
	if text := b.Text(`document.querySelector("#environment-3").innerText`); !strings.Contains(text, "the summer sale") {
		t.Errorf("the environment: %s", text)
	}
}

func TestBrowser_filterInURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.Run(chromedp.SendKeys(".filters input[type=search]", "bill"), b.Until(`location.search === "?search=bill"`), b.Until(`document.querySelectorAll(".matrix tbody tr").length === 1`))
	b.Run(chromedp.Reload(), chromedp.WaitVisible("#live"), b.Until(`document.querySelector(".filters input[type=search]")?.value === "bill" && document.querySelectorAll(".matrix tbody tr").length === 1`))
	b.Run(chromedp.Navigate(w.URL+"/?status=open"), chromedp.WaitVisible("#live"), b.Until(`document.querySelector("select").value === "open"`), b.Until(`document.querySelectorAll(".matrix tbody tr").length === 1`))
}

func TestBrowser_liveUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.Run(b.Until(`document.body.dataset.live === "on"`), chromedp.Focus(`//a[text()="bill"]`))
	w.save("github:2", "acme/billing", noon.Add(time.Minute), []store.Target{{Environment: "prod", Application: "bill", State: "same", Current: versions("bill:3-new")}})
	b.Run(b.Until(`document.querySelector("#live").innerText.includes("3-new")`), b.Until(`document.activeElement.innerText === "bill"`))
	// The page of one application is read again as well.
	b.Run(chromedp.Navigate(w.URL+"/applications/bill?repository=acme%2Fbilling"), chromedp.WaitVisible("#live"), b.Until(`document.body.dataset.live === "on"`))
	w.save("github:2", "acme/billing", noon.Add(2*time.Minute), []store.Target{{Environment: "prod", Application: "bill", State: "same", Current: versions("bill:4-newer")}})
	b.Run(b.Until(`document.querySelector("#live").innerText.includes("4-newer")`))
}

func TestBrowser_keyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.Run(chromedp.Navigate(w.URL+"/"), chromedp.WaitVisible("#live"), chromedp.KeyEvent(kb.Tab))
	if text := b.Text(`document.activeElement.innerText`); text != "Skip to the content" {
		t.Errorf("the first stop is %q", text)
	}
	b.Run(chromedp.KeyEvent(kb.Enter))
	if id := b.Text(`document.activeElement.id`); id != "main" {
		t.Errorf("it leads to %q", id)
	}
	b.Tabs("bill")
	if outline := b.Text(`getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus is not visible: %s", outline)
	}
	b.Run(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//h1[text()="bill"]`))
}

// Every page, light and dark, wide and narrow.
func TestBrowser_pages(t *testing.T) {
	t.Parallel()
	w, delivered := newWorld(t), newWorld(t)
	w.seed()
	delivered.seedDeliveries()
	b := openTab(t, w) // a session of one is one of the other
	axe := webtest.Axe(t)
	for _, width := range []int64{webtest.Wide, webtest.Narrow} {
		for scheme, ground := range map[string]string{"light": "rgb(246, 247, 249)", "dark": "rgb(16, 20, 24)"} {
			b.Look(width, scheme)
			for name, path := range map[string]string{
				"overview": "/", "application": "/applications/cart?repository=acme%2Fshop", "application-open": "/applications/pay?repository=acme%2Fshop", "repository": "/repositories/acme%2Fshop", "history": "/history", "activity": "/activity", "error": "/?status=none",
				"delivery": "/delivery?since=21d", "where": "/where?q=1.6.0",
				"hold": decidePath("cart", "prod-eu", verb.Hold), "reject": decidePath("cart", "staging", verb.Reject),
			} {
				url := w.URL + path
				if name == "delivery" {
					url = delivered.URL + path
				}
				b.Visit(url, name == "error")
				if got := b.Text(`getComputedStyle(document.body).backgroundColor`); got != ground {
					t.Errorf("%s %s: the ground is %s", name, scheme, got)
				}
				if overflow := b.Overflow(); overflow > 0 {
					t.Errorf("%s is %d pixels wider than %d", name, overflow, width)
				}
				if *screenshots != "" {
					var picture []byte
					b.Run(chromedp.FullScreenshot(&picture, 100))
					if err := os.WriteFile(filepath.Join(*screenshots, name+"-"+scheme+map[int64]string{webtest.Narrow: "-narrow"}[width]+".png"), picture, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if axe != "" {
					b.CheckAccessibility(axe, name+" "+scheme)
				}
			}
		}
	}
	if axe == "" {
		t.Skip("PROMOTER_AXE is not set: the accessibility was not checked; hack/tools axe prints its value")
	}
}
