// Package webtest opens the dashboard in Chromium, as a user does. A test fails if a script of a
// page fails, or if a page contains what its Content-Security-Policy forbids.
package webtest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a test may take. Only a failure takes that long.
const patience = 5 * time.Minute

// Tab is a page in Chromium.
type Tab struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // chromedp keeps the page in it

	mutex  sync.Mutex
	errors []string // of its console
}

// Open starts Chromium, and opens a URL. It skips the test if Chromium is not installed.
func Open(t testing.TB, url string) *Tab {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("no-proxy-server", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // nothing but the test
		chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			b.report(event.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if event.Entry.Level == log.LevelError {
				b.report(event.Entry.Text + " " + event.Entry.URL)
			}
		}
	})
	b.Run(chromedp.EmulateViewport(Wide, height), chromedp.Navigate(url))
	return b
}

// SignIn writes a token into the page that asks for it.
func (b *Tab) SignIn(token string) {
	b.t.Helper()
	b.Run(chromedp.WaitVisible("#token"), chromedp.SendKeys("#token", token+kb.Enter), chromedp.WaitVisible("#live"))
}

func (b *Tab) report(text string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.errors = append(b.errors, text)
}

// Run does what a user does, and fails the test if the console has an error.
func (b *Tab) Run(actions ...chromedp.Action) {
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

// Visit opens a page that may have the status of an error, which the console reports.
func (b *Tab) Visit(url string, failing bool) {
	b.t.Helper()
	err := chromedp.Run(b.ctx, chromedp.Navigate(url), chromedp.WaitReady("main"))
	if failing {
		b.mutex.Lock()
		b.errors = nil
		b.mutex.Unlock()
	} else if err != nil {
		b.t.Fatal(err)
	}
}

// Until waits for a condition in JavaScript.
func (b *Tab) Until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(0))
}

// Text returns the value of a script.
func (b *Tab) Text(script string) string {
	b.t.Helper()
	var text string
	b.Run(chromedp.Evaluate(script, &text))
	return text
}

// Tabs presses the key Tab until an element with a text has the focus.
func (b *Tab) Tabs(text string) {
	b.t.Helper()
	const stops = 100
	for range stops {
		b.Run(chromedp.KeyEvent(kb.Tab))
		if b.Text(`document.activeElement.innerText || document.activeElement.name || ""`) == text {
			return
		}
	}
	b.t.Fatalf("the key Tab never leads to %q", text)
}

// Widths of the window.
const (
	Wide   = 1280
	Narrow = 400
	height = 800
)

// Look sets the width of the window, and the color scheme: light or dark.
func (b *Tab) Look(width int64, scheme string) {
	b.t.Helper()
	b.Run(chromedp.EmulateViewport(width, height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// Overflow returns by how many pixels the page is wider than the window.
func (b *Tab) Overflow() (pixels int) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &pixels))
	return pixels
}

// Axe returns the script that checks the accessibility; empty: PROMOTER_AXE is not set.
func Axe(t testing.TB) string {
	t.Helper()
	file := os.Getenv("PROMOTER_AXE")
	if file == "" {
		return ""
	}
	content, err := os.ReadFile(file) //nolint:gosec // the file that the developer names
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// CheckAccessibility fails the test if Axe finds something serious.
func (b *Tab) CheckAccessibility(axe, name string) {
	b.t.Helper()
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	var text string
	awaited := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	b.Run(chromedp.Evaluate(axe+";0", nil), chromedp.Evaluate(`axe.run().then(r => JSON.stringify(r.violations))`, &text, awaited))
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
