package registry

import (
	"errors"
	"testing"

	"promoter/internal/image"
)

func TestPass_Forget(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.push(t, "acme/web", built{created: day(1)}, "released")
	f.push(t, "acme/other", built{created: day(1)}, "released")
	pass := newClient(t, Options{}).Batch()
	web := image.Reference{Repository: f.repository(t, "acme/web"), Tag: "released"}
	other := image.Reference{Repository: f.repository(t, "acme/other"), Tag: "released"}
	resolve := func(ref image.Reference) string {
		found, err := pass.For("a/1").Resolve(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return found.Digest
	}
	before := resolve(web)
	resolve(other)
	moved := f.push(t, "acme/web", built{created: day(2)}, "released")
	f.reset()
	pass.Forget(func(r image.Repository) bool { return r == web.Repository })
	if after := resolve(web); after == before || after != moved {
		t.Errorf("after it was forgotten: %s, want %s", after, moved)
	}
	resolve(other)
	if heads := f.count("HEAD"); heads != 1 {
		t.Errorf("%d digests asked, want that of the forgotten one", heads)
	}
}

// A failure is an answer within a pass, until somebody forgets.
func TestFlight_forgetFailures(t *testing.T) {
	t.Parallel()
	var asked int
	var f flight[string]
	ask := func() (string, error) {
		asked++
		return "", errors.New("down")
	}
	for range 2 {
		if _, err := f.do(t.Context(), "anonymous\x00quay.io/acme/web\x001", ask); err == nil {
			t.Error("no failure")
		}
	}
	f.forget(func(image.Repository) bool { return false })
	if _, err := f.do(t.Context(), "anonymous\x00quay.io/acme/web\x001", ask); err == nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
