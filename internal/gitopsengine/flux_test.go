package gitopsengine_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/gitopsengine"
	"promoter/internal/secret"
)

// fluxToken is the token of the Receiver, and fluxPath what `kubectl get receiver` shows for it:
// the SHA-256 of "swordfish" + "gitops" + "flux-system".
const (
	fluxToken = "swordfish"
	fluxPath  = "/hook/6e76d557a1696e28d2483adfe92ea5db2c399a81f1fba84974de5e7a0f771dd5"
)

func flux(url, token string) gitopsengine.Flux {
	return gitopsengine.Flux{URL: url, Namespace: "flux-system", Name: "gitops", Token: secret.New(token), HTTP: http.DefaultClient}
}

// A Receiver of type generic-hmac verifies the signature of the body, as package github of the
// notification controller does.
func TestFlux_postsWhatAReceiverVerifies(t *testing.T) {
	t.Parallel()
	answer, body := http.StatusOK, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = string(content)
		signature := hmac.New(sha256.New, []byte(fluxToken))
		signature.Write(content)
		sum, isSigned := strings.CutPrefix(r.Header.Get("X-Signature"), "sha256=")
		switch {
		case r.Method != http.MethodPost || r.URL.Path != fluxPath:
			w.WriteHeader(http.StatusNotFound)
		case !isSigned || sum != hex.EncodeToString(signature.Sum(nil)):
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.WriteHeader(answer)
		}
	}))
	t.Cleanup(server.Close)
	landing := gitopsengine.Landing{Repository: "github.com/acme/gitops", Environment: "staging"}
	if err := flux(server.URL, fluxToken).Post(t.Context(), landing); err != nil {
		t.Error(err)
	}
	if want := `{"repository":"github.com/acme/gitops","environment":"staging"}`; body != want {
		t.Errorf("the body is %s, want %s", body, want)
	}
	if err := flux(server.URL, "another").Post(t.Context(), landing); fault.KindOf(err) != fault.NotFound ||
		err.Error() != "Flux has no Receiver flux-system/gitops with this token: HTTP 404" {
		t.Errorf("another token: %v", err)
	}
	for status, want := range map[int]fault.Kind{
		http.StatusBadRequest: fault.Unauthorized, http.StatusMethodNotAllowed: fault.Invalid, http.StatusInternalServerError: fault.Temporary,
	} {
		answer = status
		if err := flux(server.URL, fluxToken).Post(t.Context(), landing); fault.KindOf(err) != want {
			t.Errorf("HTTP %d: %s: %v", status, fault.KindOf(err), err)
		}
	}
}

// The path of a Receiver is a secret, and no error shows it.
func TestFlux_hidesThePath(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	err := flux(server.URL, fluxToken).Post(t.Context(), gitopsengine.Landing{})
	if err == nil || strings.Contains(err.Error(), "/hook/") || !strings.HasPrefix(err.Error(), "trigger the Receiver flux-system/gitops: ") {
		t.Errorf("%v", err)
	}
}
