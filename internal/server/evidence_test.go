package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

const evidencePath = "/api/v1/evidence"

func evidenceWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t, func(o *server.Options) {
		for _, name := range []string{"smoke", "load"} {
			o.Receivers = append(o.Receivers, receiver(t, webhook.Options{Name: name, Kind: "evidence", Credential: credential.Options{Secret: secret.New("a-secret-of-" + name + "-tests"), Header: "Authorization"}}))
		}
		o.Receivers = append(o.Receivers, receiver(t, webhook.Options{Name: "argo", Kind: "argocd", Credential: credential.Options{Secret: secret.New("a-secret-of-argo-cd"), Header: "Authorization"}}))
	})
}

const goodEvidence = `{"repository": "github.com/acme/gitops", "environment": "staging", "status": "Healthy", "revision": "2222222222222222222222222222222222222222"}`

func TestEvidence_isOfTheReceiverWithTheSecret(t *testing.T) {
	t.Parallel()
	w := evidenceWorld(t)
	for _, name := range []string{"smoke", "load"} {
		answer := httptest.NewRecorder()
		w.ServeHTTP(answer, post(evidencePath, goodEvidence, "Authorization", "Bearer a-secret-of-"+name+"-tests"))
		if answer.Code != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, answer.Code, answer.Body)
		}
		last := w.inbox.taken[len(w.inbox.taken)-1]
		if last.Receiver != name || len(last.Reports) != 1 || last.Reports[0].Health.Subject != "staging" {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// Everything without the secret of such a receiver gets the same answer.
func TestEvidence_withoutTheSecret(t *testing.T) {
	t.Parallel()
	answers := map[string]bool{}
	for name, authorization := range map[string]string{"none": "", "wrong": "Bearer a-secret-of-others", "that of another kind": "Bearer a-secret-of-argo-cd", "that of a forge": hookSecret} {
		w := evidenceWorld(t)
		for _, body := range []string{goodEvidence, "not JSON"} {
			answer := httptest.NewRecorder()
			w.ServeHTTP(answer, post(evidencePath, body, "Authorization", authorization))
			if answer.Code != http.StatusUnauthorized || len(w.inbox.taken) != 0 {
				t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
			}
			answers[answer.Body.String()] = true
		}
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
}

func TestEvidence_namesWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := evidenceWorld(t)
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, post(evidencePath, strings.Replace(goodEvidence, "Healthy", "Fine", 1), "Authorization", "Bearer a-secret-of-smoke-tests"))
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "its status is none of Healthy") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	answer = httptest.NewRecorder()
	w.ServeHTTP(answer, newRequest(http.MethodGet, evidencePath, nil))
	if answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", answer.Code)
	}
}
