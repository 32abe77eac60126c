package load

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/benchworld"
)

// receivers of the service in a flood: each takes 50 webhooks in a second.
const receivers = 600

// sender posts webhooks to a process.
type sender struct {
	b     testing.TB
	to    *process
	image string // that they are about
	name  string // makes their ids unlike those of others
	count atomic.Int64
	web   http.Client
}

func newSender(b testing.TB, to *process, image, name string) *sender {
	b.Helper()
	return &sender{b: b, to: to, image: image, name: name, web: http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: time.Minute,
	}}
}

// padding makes a body one of 10 KiB, as large as those of forges are.
var padding = strings.Repeat("x", 10<<10)

func signatureOf(body []byte) string {
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// post sends the next one.
func (s *sender) post() { s.postImage(s.image) }

// postImage sends one about another image. Anything but an answer that it was taken ends the
// benchmark.
func (s *sender) postImage(image string) {
	n := s.count.Add(1)
	body := fmt.Appendf(nil, `{"id": "%s-%d", "image": "%s:%s", "padding": "%s"}`, s.name, n, image, benchworld.MovingTag, padding)
	request, err := http.NewRequestWithContext(s.b.Context(), http.MethodPost, fmt.Sprintf("%s/webhooks/r%d", s.to.url, n%receivers), bytes.NewReader(body))
	if err != nil {
		s.b.Error(err)
		return
	}
	request.Header.Set("X-Signature", signatureOf(body))
	answer, err := s.web.Do(request)
	if err != nil {
		s.b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		s.b.Errorf("webhook %d: %s", n, answer.Status)
	}
}

// flood posts as fast as the answers come, over so many connections, and returns how
// many were taken in a second.
func (s *sender) flood(connections int, for_ time.Duration) float64 {
	begin, before := time.Now(), s.count.Load()
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for time.Since(begin) < for_ && !s.b.Failed() {
				s.post()
			}
		})
	}
	all.Wait()
	return float64(s.count.Load()-before) / time.Since(begin).Seconds()
}

// pace posts so many in a second, whether answers come or not, and returns how long
// each took from the moment when it was due.
func (s *sender) pace(rate float64, for_ time.Duration) samples {
	begin := time.Now()
	due := make(chan time.Time, 1<<16)
	took := make([]samples, connections)
	var all sync.WaitGroup
	for n := range took {
		all.Go(func() {
			for at := range due {
				s.post()
				took[n] = append(took[n], time.Since(at))
			}
		})
	}
	for n := range int(rate * for_.Seconds()) {
		at := begin.Add(time.Duration(float64(n) / rate * float64(time.Second)))
		if wait := time.Until(at); wait > 0 {
			<-time.After(wait)
		}
		due <- at
	}
	close(due)
	all.Wait()
	return slices.Concat(took...)
}

// samples are times.
type samples []time.Duration

// at returns the time below which a part of them lies, in milliseconds.
func (s samples) at(part float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[int(float64(len(sorted)-1)*part)].Microseconds()) / 1000
}
