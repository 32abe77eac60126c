package app_test

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what Nexus signs with
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/receiver"
)

// Each kind of receiver accepts its own credential, and nothing else.
func TestEntrances_ofWebhooks(t *testing.T) {
	t.Parallel()
	w := newEntranceWorld(t, false)
	before := w.written()
	kinds := receiver.Names()
	table := webhookTable(t, kinds)
	table.compare(t, func(row entranceRow, principal string) string {
		given := map[string]string{
			"nothing": "", "wrong": tokenOf("wrong"), "admin": tokenOf("api-token"), "own": tokenOf("hook-" + row.what),
			"other": tokenOf("hook-" + kinds[0]),
		}[principal]
		if row.what == kinds[0] && principal == "other" {
			given = tokenOf("hook-" + kinds[1])
		}
		path, header := given, given
		switch inPath := credentialInPath(row.what); {
		case principal == "misplaced" && inPath:
			path, header = "", tokenOf("hook-"+row.what)
		case principal == "misplaced":
			path, header = tokenOf("hook-"+row.what), ""
		case principal == "own" && inPath:
			header = ""
		case principal == "own":
			path = ""
		}
		answer, _ := w.webhookWith(row.what, path, header, `{"verb": "hold", "comment": {"body": "/promoter hold"}}`)
		return answer
	})
	if after := w.written(); after != before {
		t.Errorf("webhooks recorded something: %s", after)
	}
}

// credentialInPath reports whether the receiver of a kind has its credential in the path.
func credentialInPath(name string) bool {
	i := slices.IndexFunc(receiver.Kinds(), func(kind receiver.Kind) bool { return kind.Name == name })
	first := receiver.Kinds()[i].Credentials[0]
	return first == receiver.PathSecret || first == receiver.Audience // see configuration
}

// webhook sends a webhook with a secret, in each way in which a sender presents it.
func (w *entranceWorld) webhook(kind, given, body string) (answer, text string) {
	return w.webhookWith(kind, given, given, body)
}

// webhookWith sends a webhook with a secret in the path, and one in each header that a sender may use. One that is
// authenticated and not understood is answered like one that is.
func (w *entranceWorld) webhookWith(kind, inPath, given, body string) (answer, text string) {
	w.t.Helper()
	w.wait(5 * time.Second) // so that this address sends not too many without a credential
	path := "/webhooks/hook-" + kind
	if inPath != "" {
		path += "/" + inPath
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if given != "" {
		sum := func(with func() hash.Hash) string {
			mac := hmac.New(with, []byte(given))
			mac.Write([]byte(body))
			return hex.EncodeToString(mac.Sum(nil))
		}
		signature := sum(sha256.New)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + given, "X-Gitlab-Token": given, "X-JFrog-Event-Auth": given, "X-Hub-Signature": "sha256=" + signature,
			"X-Hub-Signature-256": "sha256=" + signature, "X-Signature": "sha256=" + signature, "X-Gitea-Signature": signature,
			"X-Gogs-Signature": signature, "X-Nexus-Webhook-Signature": sum(sha1.New),
		} {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer = answerOf(response, "")
	if response.StatusCode == http.StatusBadRequest {
		answer = answerYes
	}
	return answer, response.Status
}
