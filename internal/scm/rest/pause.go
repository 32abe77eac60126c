package rest

import (
	"net/http"
	"strings"

	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// Pauses reports the pause that a forge requested for one credential. The zero value
// reports none; see Options.
type Pauses struct {
	host string
	gate *gate
}

// Paused returns the pause in effect, with the message of the error that calls fail
// with.
func (p *Pauses) Paused() (pause outbound.Backoff, on bool) {
	if p.gate == nil {
		return outbound.Backoff{}, false
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if !p.gate.until.After(p.gate.now()) {
		return outbound.Backoff{}, false
	}
	return outbound.Backoff{Host: p.host, Until: p.gate.until, Reason: "rate limited: " + p.gate.words}, true
}

// without removes the credential of a request from the forge's message, because the
// message is kept and shown to others.
func without(words string, req *http.Request) string {
	_, token, found := strings.Cut(req.Header.Get("Authorization"), " ")
	if !found || token == "" {
		return words
	}
	return strings.ReplaceAll(words, token, secret.Redacted)
}
