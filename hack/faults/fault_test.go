package faults

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// fault is one way in which a server fails.
type fault struct {
	name string
	// on is the kind of the forge, as in the server file.
	on string
	// peer is the server that fails.
	peer peer
	// hits reports whether a request fails; nil: all do.
	hits func(r *http.Request) bool
	fail failure
}

// peer is a server that promoter depends on.
type peer string

const (
	registry peer = "registry"
	git      peer = "git"
	forge    peer = "forge"
)

// receives reports whether a request is for this peer.
func (p peer) receives(r *http.Request) bool { return p == registry || isGit(r) == (p == git) }

func isGit(r *http.Request) bool { return strings.Contains(r.URL.Path, ".git/") }

// failure answers instead of a server, which may still execute the request.
type failure func(w http.ResponseWriter, r *http.Request, server http.Handler)

// faults are all of them. Registries, Git servers, and forges fail in all ways, and some in
// ways of their own.
func faults() (all []fault) {
	ways := map[string]failure{
		"401":       status(http.StatusUnauthorized),
		"403":       status(http.StatusForbidden),
		"404":       status(http.StatusNotFound),
		"429":       status(http.StatusTooManyRequests),
		"429-after": status(http.StatusTooManyRequests, "Retry-After", "5"),
		"500":       status(http.StatusInternalServerError),
		"503":       status(http.StatusServiceUnavailable),
		"html":      page,
		"silent":    silent,
		"reset":     reset,
		"truncated": truncated,
		"stalled":   stalled,
	}
	for name, fail := range ways {
		all = append(all,
			fault{name: "registry-" + name, on: "github", peer: registry, fail: fail},
			fault{name: "git-" + name, on: "github", peer: git, fail: fail})
		for _, on := range forges() {
			all = append(all, fault{name: on + "-" + name, on: on, peer: forge, fail: fail})
		}
	}
	for _, on := range forges() {
		all = append(all,
			fault{name: on + "-write-403", on: on, peer: forge, hits: writes, fail: status(http.StatusForbidden)},
			fault{name: on + "-write-422", on: on, peer: forge, hits: writes, fail: status(http.StatusUnprocessableEntity)},
			fault{name: on + "-write-lost", on: on, peer: forge, hits: writes, fail: lost})
	}
	all = append(all, faultsOfSteps()...)
	return append(all,
		fault{name: "git-push-403", on: "github", peer: git, hits: pushes, fail: status(http.StatusForbidden)},
		fault{name: "git-push-lost", on: "github", peer: git, hits: pushes, fail: lost},
	)
}

// faultsOfSteps are faults in the middle of a promotion: everything works but one step. Of the others, the short form has those
// of merges.
func faultsOfSteps() (all []fault) {
	ways := map[string]failure{
		"429":    status(http.StatusTooManyRequests),
		"503":    status(http.StatusServiceUnavailable),
		"reset":  reset,
		"silent": silent,
	}
	steps := map[string]func(r *http.Request) bool{"open": opens, "refresh": refreshes, "merge": merges}
	for step, hits := range steps {
		if step != "merge" && testing.Short() {
			continue
		}
		for way, fail := range ways {
			for _, on := range []string{"github", "gitlab", "gitea"} {
				all = append(all, fault{name: on + "-" + step + "-" + way, on: on, peer: forge, hits: hits, fail: fail})
			}
		}
	}
	return all
}

// pullRequest matches the paths of the requests that open, refresh, and merge a pull request.
var pullRequest = regexp.MustCompile(`/(?:pulls|merge_requests)(/\d+)?(/merge)?$`)

func opens(r *http.Request) bool {
	path := pullRequest.FindStringSubmatch(r.URL.Path)
	return r.Method == http.MethodPost && path != nil && path[1] == ""
}

func refreshes(r *http.Request) bool {
	path := pullRequest.FindStringSubmatch(r.URL.Path)
	return writes(r) && path != nil && path[1] != "" && path[2] == ""
}

func merges(r *http.Request) bool {
	path := pullRequest.FindStringSubmatch(r.URL.Path)
	return writes(r) && path != nil && path[2] != ""
}

// forges are the kinds of forges that fail; in the short form, one.
func forges() []string {
	if testing.Short() {
		return []string{"github"}
	}
	return []string{"github", "gitlab", "gitea"}
}

func pushes(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/git-receive-pack") }

func writes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// status answers with a status, and with a JSON message as most APIs have it.
func status(code int, header ...string) failure {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"message": %[1]q, "errors": [{"code": "UNKNOWN", "message": %[1]q}]}`, "this is a fault of the campaign")
	}
}

// page answers with the page of a proxy.
func page(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = fmt.Fprint(w, "<html><title>Maintenance</title></html>")
}

// silent does not answer, also when the fault is over: the packets are lost.
func silent(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }

// reset breaks the connection.
func reset(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // closed with RST
	}
	_ = conn.Close()
}

// lost executes a request, and breaks the connection instead of answering.
func lost(_ http.ResponseWriter, r *http.Request, server http.Handler) {
	server.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// truncated breaks the connection in the middle of the answer.
func truncated(w http.ResponseWriter, r *http.Request, server http.Handler) {
	half(w, r, server)
	panic(http.ErrAbortHandler)
}

// stalled stops in the middle of the answer, also when the fault is over.
func stalled(w http.ResponseWriter, r *http.Request, server http.Handler) {
	half(w, r, server)
	<-r.Context().Done()
}

// half executes a request, and sends the first half of the answer; nothing of one that has
// no body.
func half(w http.ResponseWriter, r *http.Request, server http.Handler) {
	whole := httptest.NewRecorder()
	server.ServeHTTP(whole, r)
	body := whole.Body.Bytes()
	if len(body) == 0 || r.Method == http.MethodHead {
		return
	}
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
}
