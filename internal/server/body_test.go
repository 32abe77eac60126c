package server_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const dockerPush = `{"repository":{"repo_name":"acme/web"},"push_data":{"tag":"1"}}`

// Bodies that are large, cut off, compressed, empty, or of unknown length.
func TestWebhook_handlesUnusualBodies(t *testing.T) {
	t.Parallel()
	forge, hub := "/webhooks/forge", "/webhooks/hub/"+pathSecret
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	_, err := w.Write([]byte(push))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		request *http.Request
		status  int
		body    string
	}{
		{"as large as may be", post(forge, push+strings.Repeat(" ", 2<<20-len(push))), http.StatusAccepted, `"events":1`},
		{"one byte larger", post(forge, push+strings.Repeat(" ", 2<<20-len(push)+1)), http.StatusRequestEntityTooLarge, "larger than 2 MiB"},
		{"larger, of an unknown name", post("/webhooks/nobody", strings.Repeat(" ", 2<<20+1)), http.StatusRequestEntityTooLarge, "larger than 2 MiB"},
		{"without a length", chunked(post(forge, push)), http.StatusAccepted, `"events":1`},
		{"larger, without a length", chunked(post(forge, push+strings.Repeat(" ", 2<<20))), http.StatusRequestEntityTooLarge, "larger than 2 MiB"},
		{"compressed", post(forge, small.String(), "Content-Encoding", "gzip"), http.StatusUnsupportedMediaType, "compressed"},
		{"compressed, it says", post(forge, push, "Content-Encoding", "br"), http.StatusUnsupportedMediaType, "compressed"},
		{"not compressed, it says", post(forge, push, "Content-Encoding", "Identity"), http.StatusAccepted, `"events":1`},
		{"empty", post(forge, ""), http.StatusBadRequest, "not JSON"},
		{"empty, by the path", post(hub, ""), http.StatusBadRequest, "not JSON"},
		{"cut off", cutOff(post(forge, push)), http.StatusBadRequest, "the body cannot be read"},
	} {
		w := newWorld(t, nil)
		got := w.answer(test.request)
		if got.Code != test.status || !strings.Contains(got.Body.String(), test.body) {
			t.Errorf("%s: %d %s, want %d with %s", test.name, got.Code, got.Body, test.status, test.body)
		}
		if (got.Code == http.StatusAccepted) != (len(w.inbox.taken) == 1) {
			t.Errorf("%s: %d deliveries kept", test.name, len(w.inbox.taken))
		}
	}
}

func chunked(r *http.Request) *http.Request {
	r.ContentLength = -1
	r.TransferEncoding = []string{"chunked"}
	return r
}

func cutOff(r *http.Request) *http.Request {
	r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, 10), broken{}))
	return r
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Only a POST is a webhook.
func TestWebhook_refusesOtherMethods(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions} {
		for _, path := range []string{"/webhooks/forge", "/webhooks/nobody", "/webhooks/hub/" + pathSecret} {
			w := newWorld(t, nil)
			got := w.answer(newRequest(method, path, strings.NewReader(dockerPush)))
			if got.Code != http.StatusMethodNotAllowed && got.Code != http.StatusNoContent || len(w.inbox.taken) > 0 {
				t.Errorf("%s %s: %d, %d kept", method, path, got.Code, len(w.inbox.taken))
			}
			if allow := got.Header().Get("Allow"); !strings.Contains(allow, http.MethodPost) || strings.Contains(allow, http.MethodPut) {
				t.Errorf("%s %s: allowed is %q", method, path, allow)
			}
			w.tellsNothing(t)
		}
	}
}

// An unknown receiver, a wrong credential and none have the same answer, byte for
// byte, but for the number of the request.
func TestWebhook_unknownReceiversGetTheSameResponse(t *testing.T) {
	t.Parallel()
	var first string
	var headers http.Header
	for _, r := range []*http.Request{
		post("/webhooks/nobody", push), post("/webhooks/nobody/"+pathSecret, push), post("/webhooks/hub/wrong", push),
		post("/webhooks/hub", push), post("/webhooks/hub/"+pathSecret[:38], push), post("/webhooks/hub/"+pathSecret+"x", push),
		post("/webhooks/forge", push, "X-Hub-Signature-256", "sha256=00"), post("/webhooks/forge", push, "X-Hub-Signature-256", ""),
		post("/webhooks/forge", "{", "X-Hub-Signature-256", ""), post("/webhooks/Forge", push),
	} {
		w := newWorld(t, nil)
		got := w.answer(r)
		got.Header().Del("X-Request-Id")
		if got.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", r.URL.Path, got.Code, got.Body)
		}
		if first == "" {
			first, headers = got.Body.String(), got.Header()
		}
		if diff := cmp.Diff(first, got.Body.String()) + cmp.Diff(headers, got.Header()); diff != "" {
			t.Errorf("%s has another answer:\n%s", r.URL.Path, diff)
		}
	}
}

// However a URL with a secret is wrong, the secret is in no log and no answer.
func TestWebhook_refusesOtherPaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/webhooks/hub/" + pathSecret + "/", "/webhooks/hub/" + pathSecret + "/more", "/webhook/hub/" + pathSecret,
		"/webhooks/hub?secret=" + pathSecret, "/webhooks//" + pathSecret, "/" + pathSecret, "/webhooks/" + pathSecret,
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			w := newWorld(t, nil)
			got := w.answer(newRequest(method, path, strings.NewReader(dockerPush)))
			if got.Code < http.StatusBadRequest || len(w.inbox.taken) > 0 {
				t.Errorf("%s: %d", path, got.Code)
			}
			if strings.Contains(got.Body.String(), "canary") {
				t.Errorf("%s: the answer is %s", path, got.Body)
			}
			w.tellsNothing(t)
		}
	}
}

// tellsNothing: no secret is in the log or in what is observed.
func (w *world) tellsNothing(t *testing.T) {
	t.Helper()
	if strings.Contains(w.log.String(), "canary") {
		t.Errorf("the log holds the secret: %s", w.log)
	}
	for _, seen := range w.seen {
		if strings.Contains(seen.Receiver, "canary") {
			t.Errorf("the secret was observed: %+v", seen)
		}
	}
}
