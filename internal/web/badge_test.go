package web_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"promoter/internal/store"
)

// badge requests a badge without a session, and returns its texts, which must be in valid XML.
func (w *world) badge(path, known string) (response *http.Response, texts []string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.URL+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("If-None-Match", known)
	response, err = w.Client().Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		return response, nil
	}
	var image struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Title   string   `xml:"title"`
		Texts   []string `xml:"text"`
	}
	if err := xml.Unmarshal(body, &image); err != nil {
		w.t.Fatalf("%v\n%s", err, body)
	}
	return response, image.Texts
}

func TestBadge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	const cart = "/badges/" + onlyBadges + "/cart.svg"
	for path, want := range map[string]string{
		cart:                           "cart | dev 1.6.0 up to date | staging 1.5.2 waiting", // prod is out of the scope
		cart + "?environment=staging":  "cart | staging 1.5.2 waiting",
		cart + "?repository=acme/shop": "cart | dev 1.6.0 up to date | staging 1.5.2 waiting",
		cart + "?version=1.6.0":        "cart 1.6.0 | dev there | staging waiting",
	} {
		response, texts := w.badge(path, "")
		if got := strings.Join(texts, " | "); got != want || response.Header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %s %q, want %q", path, response.Status, got, want)
		}
		if caching := response.Header.Get("Cache-Control"); caching != "public, max-age=60" {
			t.Errorf("%s: Cache-Control %q", path, caching)
		}
		again, _ := w.badge(path, response.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: with its ETag: %s", path, again.Status)
		}
	}
	for path, want := range map[string]int{
		"/badges/wrong/cart.svg":                           404,
		"/badges/" + everything + "/cart.svg":              404, // a token of the API
		"/badges/" + onlyBadges + "/cart":                  404,
		"/badges/" + onlyBadges + "/none.svg":              404,
		"/badges/" + onlyBadges + "/bill.svg":              404, // in another repository
		cart + "?environment=prod-eu":                      404,
		cart + "?version=9.9.9":                            404,
		cart + "?version=x":                                400,
		cart + "?color=red":                                400,
		"/badges/wrong/cart.svg?color=red":                 404,
		"/badges/" + onlyBadges + "/cart.svg/activity.svg": 404,
	} {
		if response, _ := w.badge(path, ""); response.StatusCode != want || response.Header.Get("Cache-Control") != "no-store" && want != http.StatusNotFound {
			t.Errorf("%s: %s, want %d", path, response.Status, want)
		}
	}
}

// A token of badges is in URLs, so it opens nothing else.
func TestBadge_tokenSignsNobodyIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	if response, _ := w.browser().post("/sign-in", url.Values{"token": {onlyBadges}}); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the sign-in: %s", response.Status)
	}
}

func TestBadge_hostileNames(t *testing.T) {
	t.Parallel()
	const hostile = `"/><script>alert(1)</script>&\x00`
	w := newWorld(t)
	w.save("github:3", "evil/x", noon, []store.Target{{Environment: "dev", Application: hostile, State: "same", Current: versions("web:" + hostile)}})
	response, texts := w.badge("/badges/"+onlyBadges+"/"+url.PathEscape(hostile)+".svg", "")
	if response.StatusCode != http.StatusOK || len(texts) != 2 || texts[0] != hostile {
		t.Errorf("%s: %q", response.Status, texts)
	}
	if policy := response.Header.Get("Content-Security-Policy"); policy != "default-src 'none'; sandbox" {
		t.Errorf("policy %q", policy)
	}
}

// A browser shows it as an image.
func TestBrowser_badge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seed()
	b := openTab(t, w)
	var width int
	awaited := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	b.Run(chromedp.Evaluate(`(async () => { const i = new Image(); i.src = "/badges/`+onlyBadges+`/cart.svg"; await i.decode(); return i.naturalWidth; })()`, &width, awaited))
	if width < 200 {
		t.Errorf("the image is %d pixels wide", width)
	}
}
