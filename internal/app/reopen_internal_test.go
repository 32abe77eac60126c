package app

import (
	"net/http"
	"testing"
	"time"
)

// fails lets the forge not answer for both repositories: each is asked for three times.
func (d *desk) fails() {
	for range 6 {
		d.github.Fail("GET /repos/{owner}/{repo}", http.StatusServiceUnavailable, "away")
	}
}

// between holds when the next poll comes.
func (d *desk) between(next time.Time, least, most time.Duration) {
	d.t.Helper()
	if wait := next.Sub(d.clock.Now()); wait < least || wait > most {
		d.t.Errorf("the next poll comes in %v, want %v to %v", wait, least, most)
	}
}

// A forge is away for a moment when the service starts. That costs its repositories a
// minute, not a whole poll; a longer one costs the forge less and less.
func TestPoll_whatCouldNotBeOpenedIsTriedAgainSoon(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, wait := range []time.Duration{time.Minute, 2 * time.Minute} {
		d.fails()
		d.between(d.poll(), wait, wait*5/4)
		if opened := len(d.present().byKey); opened > 0 {
			t.Fatalf("%d repositories were opened", opened)
		}
		d.clock.Add(wait * 5 / 4)
	}
	d.poll()
	d.keyOf("acme/one")
	d.keyOf("acme/two")
	d.clock.Add(6 * time.Minute)
	d.between(d.poll(), 4*time.Minute, 6*time.Minute)
	d.clock.Add(6 * time.Minute)
	d.fails()
	d.between(d.poll(), time.Minute, 75*time.Second) // it begins anew
}

// A forge that says when it answers again is left alone until then.
func TestPoll_aLimitedForgeIsPolledAtItsTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.github.Limit(false, d.clock.Now().Add(3*time.Minute))
	d.between(d.poll(), 3*time.Minute, 3*time.Minute+time.Second)
}

// What a person has to change is tried with the usual polls.
func TestPoll_aTokenThatMayNotIsTriedWithTheNextPoll(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.github.Revoke(d.token.Load().(string)) //nolint:forcetypeassert // nothing else is stored
	d.between(d.poll(), 4*time.Minute, 6*time.Minute)
	d.two.Remove()
	d.renew()
	d.clock.Add(6 * time.Minute)
	d.between(d.poll(), 4*time.Minute, 6*time.Minute)
}

// A look that made a round a moment ago does not put the poll off whose time has come;
// repositories that come and go do not bring one about sooner.
func TestPoll_aYoungRoundIsNoReasonToWait(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.poll()
	d.clock.Add(7 * time.Minute)
	d.present() // a look finds the round too old and makes another
	d.between(d.poll(), 4*time.Minute, 6*time.Minute)
	d.clock.Add(10 * time.Second)
	d.between(d.poll(), 50*time.Second, 50*time.Second)
}
