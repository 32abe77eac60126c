package gittest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/cgi" //nolint:gosec // a server in a test
	"strings"
)

// maxPack is the largest push, in bytes.
const maxPack = 512 << 20

// Visit is one request of a Git client.
type Visit struct {
	Name    string // of the repository: the path before .git
	Service string // info/refs, upload-pack or receive-pack
	Pushes  bool   // it writes, or asks what it may write to
	Request *http.Request
}

// Route names the request as the fakes count it, for instance "GIT upload-pack".
func (v Visit) Route() string { return "GIT " + v.Service }

// Moved redirects to another name of the repository below a root, as forges do after
// a rename.
func (v Visit) Moved(root, name string) http.HandlerFunc {
	_, rest, _ := strings.Cut(v.Request.URL.Path, ".git/")
	to := root + "/" + name + ".git/" + rest
	if v.Request.URL.RawQuery != "" {
		to += "?" + v.Request.URL.RawQuery
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusMovedPermanently)
	}
}

// Refuse answers with a status and a plain text message.
func Refuse(status int, words string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, words+"\n") // the client may be gone
	}
}

// Unknown answers that the credential is not valid, with the message of the forge.
func Unknown(realm, words string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="`+realm+`"`)
		Refuse(http.StatusUnauthorized, words)(w, r)
	}
}

// Admission is how a forge answers a Visit.
type Admission struct {
	Refused    http.HandlerFunc // set: it answers, and the rest is ignored
	Repository *Repository
	Login      string // of the user, for Git's own logs
	// Pushed is called after a push and before its response is sent, so that a client
	// with the response sees the effects.
	Pushed func()
	Lose   bool // perform the push, then close the connection
}

// Serve serves NAME.git over smart HTTP below the root of a server.
func (g *Git) Serve(w http.ResponseWriter, r *http.Request, admit func(Visit) Admission) {
	name, rest, isGit := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	if !isGit {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPack))
	if err != nil {
		return // the client is gone
	}
	visit := Visit{Name: name, Service: strings.TrimPrefix(rest, "git-"), Request: r}
	visit.Pushes = visit.Service == "receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
	said := admit(visit)
	if said.Refused != nil {
		said.Refused(w, r)
		return
	}
	backend := g.handler(said, rest)
	if !visit.Pushes || r.Method != http.MethodPost {
		backend.ServeHTTP(w, withBody(r, body))
		return
	}
	answer := &kept{header: http.Header{}, status: http.StatusOK}
	backend.ServeHTTP(answer, withBody(r, body))
	if said.Pushed != nil {
		said.Pushed()
	}
	if said.Lose {
		panic(http.ErrAbortHandler)
	}
	answer.send(w)
}

func (g *Git) handler(said Admission, rest string) http.Handler {
	return &cgi.Handler{
		Path: g.backend, Dir: said.Repository.dir,
		Env: append(g.environment(), "GIT_PROJECT_ROOT="+said.Repository.dir, "GIT_HTTP_EXPORT_ALL=1",
			"REMOTE_USER="+said.Login, "PATH_INFO=/"+rest),
		Stderr: io.Discard,
	}
}

// withBody returns the request with a body of known length, which CGI requires.
func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return r
}

// kept is a response that is sent later, or never.
type kept struct {
	header http.Header
	status int
	bytes.Buffer
}

// Header returns the headers.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader records the status.
func (k *kept) WriteHeader(status int) { k.status = status }

func (k *kept) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(k.Bytes()) // the client may be gone
}
