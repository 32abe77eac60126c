package auth_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/registry/auth/authtest"
)

func respond(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	})
}

func get(t *testing.T, w *authtest.World) error {
	t.Helper()
	_, err := w.Machine().Call(t.Context(), "q", "do this").Get("https://x.example.com/", nil)
	return err
}

func TestCall_showsOnlyErrorCodes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":"invalid_grant","error_description":"canary"}`:  "q: 400 invalid_grant: do this",
		`{"error":{"code":403,"status":"PERMISSION_DENIED"}}`:     "q: 400 PERMISSION_DENIED: do this",
		`{"__type":"com.amazonaws#AccessDeniedException"}`:        "q: 400 AccessDeniedException: do this",
		`{"errors":[{"code":"UNAUTHORIZED","message":"canary"}]}`: "q: 400 UNAUTHORIZED: do this",
		`{"code":"Denied"}`: "q: 400 Denied: do this",
		`<R xmlns="x"><Error><Code>InvalidId</Code></Error></R>`: "q: 400 InvalidId: do this",
		`canary`:                        "q: 400 Bad Request: do this",
		`{"error":"canary with words"}`: "q: 400 Bad Request: do this",
		`{"error":["canary"]}`:          "q: 400 Bad Request: do this",
		`{"code":7}`:                    "q: 400 Bad Request: do this",
		``:                              "q: 400 Bad Request: do this",
		`{"error":"` + strings.Repeat("a", 65) + `"}`:  "q: 400 Bad Request: do this",
		`<Code>` + strings.Repeat("a", 65) + `</Code>`: "q: 400 Bad Request: do this",
	} {
		w := authtest.New(t)
		w.Vendor["x.example.com"] = respond(400, body)
		if err := get(t, w); fault.KindOf(err) != fault.Unauthorized || err.Error() != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestCall_kindOfStatus(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]fault.Kind{
		200: "", 201: "", 302: fault.Invalid, 400: fault.Unauthorized, 401: fault.Unauthorized, 403: fault.Unauthorized,
		404: fault.Unauthorized, 408: fault.Temporary, 429: fault.RateLimited, 500: fault.Temporary, 503: fault.Temporary,
	} {
		w := authtest.New(t)
		w.Vendor["x.example.com"] = respond(status, "")
		if err := get(t, w); fault.KindOf(err) != kind {
			t.Errorf("%d: %v (%s)", status, err, fault.KindOf(err))
		}
	}
}

func TestCall_boundsResponseAndTime(t *testing.T) {
	t.Parallel()
	w := authtest.New(t)
	w.Vendor["x.example.com"] = respond(200, strings.Repeat("a", 1<<20+1))
	if err := get(t, w); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("oversize: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.Vendor["x.example.com"] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	// A library may send its requests without the caller's context.
	call := w.Machine().Call(ctx, "q", "do this")
	resp, err := call.Client().Get("https://x.example.com/") //nolint:noctx // that is the case
	if err == nil {
		_ = resp.Body.Close()
	}
	if fault.KindOf(call.Failure(err)) != fault.Temporary {
		t.Errorf("slow: %v", err)
	}
}

func TestCall_refusesOtherAddresses(t *testing.T) {
	t.Parallel()
	w := authtest.New(t)
	w.Env["IDENTITY_ENDPOINT"] = "http://127.0.0.1:4141/msi/token"
	w.Env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://10.0.0.1/creds"
	w.Local["127.0.0.1:4141"], w.Local[auth.Instance], w.Vendor["x.example.com"] = respond(200, ""), respond(200, ""), respond(200, "")
	m := w.Machine()
	for address, ok := range map[string]bool{
		"http://127.0.0.1:4141/msi/token":  true,
		"http://169.254.169.254/latest":    true,
		"https://x.example.com/":           true,
		"http://127.0.0.1:4142/":           false,
		"http://127.0.0.1/":                false,
		"http://169.254.169.254:8080/":     false,
		"http://169.254.169.253/":          false,
		"http://10.0.0.1/creds":            false,
		"http://x.example.com/":            false,
		"http://u:p@169.254.169.254/":      false,
		"http://169.254.169.254@evil.test": false,
		"file:///etc/passwd":               false,
		"":                                 false,
		"::":                               false,
	} {
		if _, err := m.LocalCall(t.Context(), "q", "").Get(address, nil); (err == nil) != ok || !ok && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"http://x.example.com/", "http://169.254.169.254/", "ftp://x.example.com/"} {
		if _, err := m.Call(t.Context(), "q", "").Get(address, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestCall_postForm(t *testing.T) {
	t.Parallel()
	w := authtest.New(t)
	w.Vendor["x.example.com"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.Method != http.MethodPost || r.PostForm.Get("a") != "b&c" {
			t.Errorf("%s %v: %v", r.Method, r.PostForm, err)
		}
		_, _ = fmt.Fprint(w, `{"x":1}`)
	})
	call := w.Machine().Call(t.Context(), "q", "")
	response, err := call.PostForm("https://x.example.com/", url.Values{"a": {"b&c"}})
	var got struct{ X int }
	if err != nil || response.Decode(&got) != nil || got.X != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	response.Body = []byte("<")
	if err := response.Decode(&got); fault.KindOf(err) != fault.Temporary {
		t.Errorf("err = %v", err)
	}
}

func TestCall_failureOfLibrary(t *testing.T) {
	t.Parallel()
	w := authtest.New(t)
	w.Vendor["x.example.com"] = respond(200, "canary")
	call := w.Machine().Call(t.Context(), "q", "")
	if err := call.Failure(nil); err != nil || call.Sent() {
		t.Errorf("no error: %v", err)
	}
	if err := call.Failure(io.ErrUnexpectedEOF); fault.KindOf(err) != fault.Invalid {
		t.Errorf("before a request: %v", err)
	}
	if _, err := call.Get("https://x.example.com/", nil); err != nil || !call.Sent() {
		t.Errorf("request: %v", err)
	}
	if err := call.Failure(fmt.Errorf("canary: %w", io.ErrUnexpectedEOF)); fault.KindOf(err) != fault.Temporary || strings.Contains(err.Error(), "canary") {
		t.Errorf("after a response that the library does not understand: %v", err)
	}
}

func FuzzCall_errorCode(f *testing.F) {
	f.Add(`{"error":"invalid_grant"}`)
	f.Add(`<Code>x</Code>`)
	f.Add(`{"__type":"a#b","error":{"status":"c"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := authtest.New(t)
		w.Vendor["x.example.com"] = respond(403, body)
		err := get(t, w)
		if err == nil || len(err.Error()) > len("q: 403 : do this")+64 || strings.ContainsAny(err.Error(), "\n\"<{") {
			t.Errorf("%q: %v", body, err)
		}
	})
}
