package web_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"promoter/internal/store"
)

var screenshots = flag.String("screenshots", "", "a folder for screenshots of the pages")

// tab is a page in Chromium, whose user has signed in.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the page in it
	url string

	mutex  sync.Mutex
	errors []string // of its console: a script that failed, or content that the policy forbids
}

// openTab starts Chromium, and signs in.
func openTab(t *testing.T, w *world) *tab {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	one := &tab{t: t, ctx: ctx, url: w.URL}
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			one.report(event.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if event.Entry.Level == log.LevelError {
				one.report(event.Entry.Text + " " + event.Entry.URL)
			}
		}
	})
	one.run(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(w.URL+"/"), chromedp.WaitVisible("#token"),
		chromedp.SendKeys("#token", everything+kb.Enter), chromedp.WaitVisible("#live"))
	return one
}

func (b *tab) report(text string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.errors = append(b.errors, text)
}

// run does what a user does, and fails if the console has an error.
func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.errors) > 0 {
		b.t.Fatal(b.errors)
	}
}

// until waits for a condition in JavaScript.
func (b *tab) until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(0))
}

func (b *tab) text(script string) string {
	b.t.Helper()
	var text string
	b.run(chromedp.Evaluate(script, &text))
	return text
}

func TestBrowser_matrixToApplication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	if text := b.text(`document.querySelector("#live").innerText`); !strings.Contains(text, "1.5.2 → 1.6.0") || !strings.Contains(text, "held by ana: the summer sale") {
		t.Errorf("the matrix: %s", text)
	}
	// What is copied from a table has a tab between cells.
	if text := b.text(`getSelection().selectAllChildren(document.querySelector(".matrix thead")), getSelection().toString()`); !strings.Contains(text, "Application\tdev\tprod") {
		t.Errorf("copied: %q", text)
	}
	b.run(chromedp.Click(`//a[text()="cart"]`), chromedp.WaitVisible(`//h1[text()="cart"]`), chromedp.Click(`svg a[href="#environment-3"]`, chromedp.NodeVisible))
	if hash := b.text("location.hash"); hash != "#environment-3" {
		t.Errorf("the graph leads to %q", hash)
	}
	if text := b.text(`document.querySelector("#environment-3").innerText`); !strings.Contains(text, "the summer sale") {
		t.Errorf("the environment: %s", text)
	}
}

func TestBrowser_filterInURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.run(chromedp.SendKeys(".filters input[type=search]", "bill"), b.until(`location.search === "?search=bill"`), b.until(`document.querySelectorAll(".matrix tbody tr").length === 1`))
	b.run(chromedp.Reload(), chromedp.WaitVisible("#live"), b.until(`document.querySelector(".filters input[type=search]")?.value === "bill" && document.querySelectorAll(".matrix tbody tr").length === 1`))
	b.run(chromedp.Navigate(w.URL+"/?status=open"), chromedp.WaitVisible("#live"), b.until(`document.querySelector("select").value === "open"`), b.until(`document.querySelectorAll(".matrix tbody tr").length === 1`))
}

func TestBrowser_liveUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.run(b.until(`document.body.dataset.live === "on"`), chromedp.Focus(`//a[text()="bill"]`))
	w.save("github:2", "acme/billing", noon.Add(time.Minute), []store.Target{{Environment: "prod", Application: "bill", State: "same", Current: versions("bill:3-new")}})
	b.run(b.until(`document.querySelector("#live").innerText.includes("3-new")`), b.until(`document.activeElement.innerText === "bill"`))
	// The page of one application is read again as well.
	b.run(chromedp.Navigate(w.URL+"/applications/bill?repository=acme%2Fbilling"), chromedp.WaitVisible("#live"), b.until(`document.body.dataset.live === "on"`))
	w.save("github:2", "acme/billing", noon.Add(2*time.Minute), []store.Target{{Environment: "prod", Application: "bill", State: "same", Current: versions("bill:4-newer")}})
	b.run(b.until(`document.querySelector("#live").innerText.includes("4-newer")`))
}

func TestBrowser_keyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	b.run(chromedp.Navigate(w.URL+"/"), chromedp.WaitVisible("#live"), chromedp.KeyEvent(kb.Tab))
	if text := b.text(`document.activeElement.innerText`); text != "Skip to the content" {
		t.Errorf("the first stop is %q", text)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	if id := b.text(`document.activeElement.id`); id != "main" {
		t.Errorf("it leads to %q", id)
	}
	const stops = 40
	for range stops {
		b.run(chromedp.KeyEvent(kb.Tab))
		if b.text(`document.activeElement.innerText || ""`) == "bill" {
			break
		}
	}
	if outline := b.text(`getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus is not visible: %s", outline)
	}
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`//h1[text()="bill"]`))
}

// Every page, light and dark, wide and narrow.
func TestBrowser_pages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	w.seedDeliveries()
	b := openTab(t, w)
	axe := ""
	if file := os.Getenv("PROMOTER_AXE"); file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		axe = string(content)
	}
	const narrow, wide = 400, 1280
	for _, width := range []int64{wide, narrow} {
		for scheme, ground := range map[string]string{"light": "rgb(246, 247, 249)", "dark": "rgb(16, 20, 24)"} {
			for name, path := range map[string]string{
				"overview": "/", "application": "/applications/cart?repository=acme%2Fshop", "application-open": "/applications/pay?repository=acme%2Fshop", "repository": "/repositories/acme%2Fshop", "history": "/history", "activity": "/activity", "error": "/?status=none",
				"delivery": "/delivery?since=21d", "where": "/where?q=1.6.0",
			} {
				b.run(chromedp.EmulateViewport(width, 800), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
				_ = chromedp.Run(b.ctx, chromedp.Navigate(b.url+path), chromedp.WaitReady("main"))
				if name == "error" {
					b.errors = nil // the console has the status
				}
				if got := b.text(`getComputedStyle(document.body).backgroundColor`); got != ground {
					t.Errorf("%s %s: the ground is %s", name, scheme, got)
				}
				var overflow int
				b.run(chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &overflow))
				if overflow > 0 {
					t.Errorf("%s is %d pixels wider than %d", name, overflow, width)
				}
				if *screenshots != "" {
					var picture []byte
					b.run(chromedp.FullScreenshot(&picture, 100))
					if err := os.WriteFile(filepath.Join(*screenshots, name+"-"+scheme+map[int64]string{wide: "", narrow: "-narrow"}[width]+".png"), picture, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if axe != "" {
					b.checkAccessibility(axe, name+" "+scheme)
				}
			}
		}
	}
	if axe == "" {
		t.Skip("PROMOTER_AXE is not set: the accessibility was not checked; hack/tools axe prints its value")
	}
}

// checkAccessibility fails if axe finds something serious.
func (b *tab) checkAccessibility(axe, name string) {
	b.t.Helper()
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	var text string
	awaited := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	b.run(chromedp.Evaluate(axe+";0", nil), chromedp.Evaluate(`axe.run().then(r => JSON.stringify(r.violations))`, &text, awaited))
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		b.t.Fatal(err)
	}
	for _, one := range found {
		if one.Impact == "serious" || one.Impact == "critical" {
			b.t.Errorf("%s: %s: %s: %+v", name, one.ID, one.Help, one.Nodes)
		} else {
			b.t.Logf("%s: %s %s: %s", name, one.Impact, one.ID, one.Help)
		}
	}
}
