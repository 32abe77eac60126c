package forgetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// Reply is a response of an API before it is sent.
type Reply struct {
	Status int
	Header http.Header
	Body   any // sent as JSON, Plain unchanged; nil: none
}

// Plain is a body that is not JSON. Its reply has its own content type.
type Plain string

// Answer returns a reply without headers.
func Answer(status int, body any) *Reply {
	return &Reply{Status: status, Header: http.Header{}, Body: body}
}

// Unless returns the reply with an ETag of its body, or "not modified" if the client
// has it already.
func (a *Reply) Unless(r *http.Request, cacheControl string) *Reply {
	if r.Method != http.MethodGet || a.Status != http.StatusOK {
		return a
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(a.Text()))
	a.Header.Set("ETag", tag)
	a.Header.Set("Cache-Control", cacheControl)
	if r.Header.Get("If-None-Match") == tag {
		a.Status, a.Body = http.StatusNotModified, nil
	}
	return a
}

// Text returns the body as it is sent.
func (a *Reply) Text() []byte {
	if plain, is := a.Body.(Plain); is {
		return []byte(plain)
	}
	text, err := json.Marshal(a.Body)
	if err != nil {
		panic(err) // values are created by a fake
	}
	return text
}

// send writes the reply, its JSON with this content type.
func (a *Reply) send(w http.ResponseWriter, contentType string) {
	maps.Copy(w.Header(), a.Header)
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	if _, is := a.Body.(Plain); !is {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Text()) // the client may be gone
}
