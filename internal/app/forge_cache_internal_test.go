package app

import (
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// spent is how many requests GitHub has counted.
func (d *desk) spent() int {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.github.API()+"user", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+d.token.Load().(string)) //nolint:forcetypeassert // nothing else is stored
	response, err := d.github.Client().Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		d.t.Fatal(err)
	}
	used, err := strconv.Atoi(response.Header.Get("X-RateLimit-Used"))
	if err != nil {
		d.t.Fatal(err)
	}
	return used
}

// cost is what a poll costs with a look at each repository.
func (d *desk) cost() int {
	d.t.Helper()
	before := d.spent()
	d.clock.Add(6 * time.Minute)
	d.poll()
	for key := range d.present().byKey {
		if _, err := d.lookAt(key); err != nil {
			d.t.Error(err)
		}
	}
	return d.spent() - before - 1 // which this question was
}

// Where nothing happens, polling costs nothing of what GitHub allows in an hour. A
// token that was replaced is asked with from then on, and nothing is known with it.
func TestPoll_costsNothingWhenIdle(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if now := d.clock.Now().UTC(); now.Add(time.Hour).Day() != now.Day() {
		d.clock.Add(time.Hour) // comments are requested by the day: the first poll of one asks anew
	}
	first := d.cost()
	if again := d.cost(); again != 0 || first == 0 {
		t.Errorf("the second poll costs %d requests, the first %d", again, first)
	}
	old := d.token.Load().(string) //nolint:forcetypeassert // nothing else is stored
	d.renew()
	d.github.Revoke(old)
	if renewed := d.cost(); renewed < first {
		t.Errorf("with another token the poll costs %d requests, as if it was the one before", renewed)
	}
}

// A backoff outlives the refresh in which it was asked for.
func TestBackoffs_outliveRefreshes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.poll()
	d.github.Limit(false, d.clock.Now().Add(10*time.Minute))
	for range 2 {
		d.clock.Add(2 * time.Minute)
		d.poll()
		if got := d.connections.CredentialBackoffs(); len(got) != 1 || got[0].Credential != "the token of forge" {
			t.Errorf("%+v", got)
		}
	}
	d.clock.Add(10 * time.Minute)
	if got := d.connections.CredentialBackoffs(); len(got) != 0 {
		t.Errorf("after it: %+v", got)
	}
}
