package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// slowly is the end of a body: it signals that all before it was read, and waits.
type slowly struct {
	read chan<- struct{}
	end  <-chan struct{}
}

func (s slowly) Read([]byte) (int, error) {
	s.read <- struct{}{}
	<-s.end
	return 0, io.EOF
}

// Bodies that never end fill a limited part of the memory, regardless of their sender,
// and do not affect other receivers.
func TestWebhook_refusesBodiesBeyondTheBudget(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/webhooks/forge", "/webhooks/nobody"} {
		w := newWorld(t, nil)
		const most = 16 // of the largest
		read, end, codes := make(chan struct{}), make(chan struct{}), make(chan int)
		for range most {
			r := post(path, push+strings.Repeat(" ", 2<<20-len(push)))
			r.Body = io.NopCloser(io.MultiReader(r.Body, slowly{read, end}))
			go func() { codes <- w.answer(r).Code }()
		}
		for range most {
			<-read
		}
		got := w.answer(post(path, push))
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: one more: %d %v %s", path, got.Code, got.Header(), got.Body)
		}
		if got := w.answer(post("/webhooks/hub/"+pathSecret, dockerPush)); got.Code != http.StatusAccepted {
			t.Errorf("%s: another receiver: %d %s", path, got.Code, got.Body)
		}
		close(end)
		for range most {
			if code := <-codes; code == http.StatusTooManyRequests {
				t.Errorf("%s: one of those before: %d", path, code)
			}
		}
		if got := w.answer(post(path, push)); got.Code == http.StatusTooManyRequests {
			t.Errorf("%s: after them: %d %s", path, got.Code, got.Body)
		}
	}
}
