package server

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

//go:embed setup.html
var setupHTML string

//go:embed setup.css
var setupCSS string

// setupPages writes the pages of a set-up. They need no script, and load nothing.
type setupPages struct {
	page  *template.Template
	style string // the hash of the style, as a policy names it
}

func newSetupPages() (*setupPages, error) {
	page, err := template.New("setup").Parse(setupHTML)
	sum := sha256.Sum256([]byte(setupCSS))
	return &setupPages{page: page, style: "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}, fault.Wrap(fault.Internal, err)
}

// setupData is what the template shows: one of the three.
type setupData struct {
	Title  string
	Style  template.CSS
	Offer  *AppPreview
	Action string
	Made   *CreatedApp
	Error  string
}

func (p *setupPages) offer(c echo.Context, available AppPreview, to *url.URL) error {
	data := setupData{Title: "Set promoter up on " + available.GitHub, Offer: &available, Action: to.String()}
	return p.write(c, http.StatusOK, to.Scheme+"://"+to.Host, data)
}

func (p *setupPages) made(c echo.Context, made CreatedApp) error {
	return p.write(c, http.StatusOK, "'none'", setupData{Title: made.Name + " was made", Made: &made})
}

// failed says to the person in the browser what went wrong: who comes here has shown
// a secret, and sees nothing else.
func (p *setupPages) failed(c echo.Context, err error) error {
	return p.write(c, statusOf(err), "'none'", setupData{Title: "Set-up of promoter", Error: sentence(err.Error())})
}

// sentence makes one of the words of an error.
func sentence(words string) string {
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:] + "."
}

// write sends a page that may send a form to one site alone, which is told the host
// of the page and not its path: the path holds the secret.
func (p *setupPages) write(c echo.Context, status int, formTo string, data setupData) error {
	data.Style = template.CSS(setupCSS) //nolint:gosec // it is our own file
	var text bytes.Buffer
	if err := p.page.Execute(&text, data); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	head := c.Response().Header()
	head.Set("Content-Security-Policy", "default-src 'none'; style-src "+p.style+"; form-action "+formTo+"; frame-ancestors 'none'; base-uri 'none'")
	head.Set("Referrer-Policy", "strict-origin")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	return c.HTMLBlob(status, text.Bytes())
}
