package rest

import (
	"net/http"
	"strings"

	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// Pauses tell of the pause that a forge asked for, of one credential. The zero value
// tells of none; see Options.
type Pauses struct {
	host string
	gate *gate
}

// Paused is the pause that is on, in the words of the error that calls end with.
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

// without takes the credential of a request out of words that a forge answered it with:
// they are kept, and told to others than who asked.
func without(words string, req *http.Request) string {
	_, token, found := strings.Cut(req.Header.Get("Authorization"), " ")
	if !found || token == "" {
		return words
	}
	return strings.ReplaceAll(words, token, secret.Redacted)
}
