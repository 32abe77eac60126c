package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/hack/process"
	"promoter/internal/benchworld"
)

// maxMemory is what the process may use at most, in MiB: the limit of its pod.
const maxMemory = 512

// maxExit is how long it may take to exit: the grace period of its pod.
const maxExit = 30 * time.Second

// promotions is how often the victim is promoted during an attack, and watch is how long
// the attack goes on then: most attacks are over by then, or at their peak.
func promotions() (times int, watch time.Duration) {
	if testing.Short() {
		return 1, 3 * time.Second
	}
	return 3, 20 * time.Second
}

// attack is what one attacker does.
type attack struct {
	name string
	// prepare makes the repositories of the attacker, and returns their names.
	prepare func(t testing.TB, w *world) []string
	// during, if set, runs beside the promotion of the victim.
	during func(t testing.TB, p *service, end <-chan struct{})
}

func attacks() []attack {
	return []attack{
		{name: "nothing", prepare: func(testing.TB, *world) []string { return nil }},
		{name: "million paths in the state branch", prepare: func(t testing.TB, w *world) []string {
			t.Helper()
			name := w.follower(t, "evil/state", "evil/image")
			w.pushMillionPaths(t, name, "promoter/_state")
			return []string{name}
		}},
		{name: "million paths in main", prepare: func(t testing.TB, w *world) []string {
			t.Helper()
			name := w.follower(t, "evil/main", "evil/image")
			w.pushMillionPaths(t, name, "main")
			return []string{name}
		}},
		{name: "500 dense files", prepare: func(t testing.TB, w *world) []string {
			t.Helper()
			var dense strings.Builder
			for i := 0; dense.Len() < 1<<20-100; i++ {
				fmt.Fprintf(&dense, "- image: %s/evil/image:%d\n", w.Host, i)
			}
			files := map[string]string{".promoter.yaml": fmt.Sprintf(
				"version: 1\ncomponents:\n  c: {image: %s/evil/image, select: {tag: %s}}\nenvironments:\n  dev: {land: push}\n", w.Host, benchworld.MovingTag)}
			for i := range 500 {
				files[fmt.Sprintf("f%d.yaml", i)] = dense.String()
			}
			return []string{w.repository(t, "evil/dense", files)}
		}},
		{name: "100 components on a registry without an end", prepare: func(t testing.TB, w *world) []string {
			t.Helper()
			return []string{w.followsTags(t, "evil/endless", 100, w.hostile, `{semver: ">=1"}`)}
		}},
		{name: "four repositories on a slow registry", prepare: func(t testing.TB, w *world) (names []string) {
			t.Helper()
			for i := range 4 {
				names = append(names, w.followsTags(t, fmt.Sprintf("evil/slow-%d", i), 1, w.slow, `{semver: ">=1"}`))
			}
			return names
		}},
		{name: "20 expressions over 20,000 tags", prepare: func(t testing.TB, w *world) []string {
			t.Helper()
			exclude := make([]string, 20)
			for i := range exclude {
				exclude[i] = fmt.Sprintf(`'(x|xx|xxx|[a-w]{1,%d}|.{1,900})+y$'`, 10+i)
			}
			return []string{w.followsTags(t, "evil/expressions", 20, w.hostile, `{semver: ">=1", exclude: [`+strings.Join(exclude, ", ")+`]}`)}
		}},
		{
			name: "500 environments, each after all earlier ones", prepare: func(t testing.TB, w *world) []string {
				t.Helper()
				return []string{w.tangled(t, "evil/tangled", 500), w.tangled(t, "evil/most-parents", 100)}
			},
			during: keepReleasing,
		},
		{
			name: "135 unsigned webhooks per second", prepare: func(testing.TB, *world) []string { return nil },
			during: floodUnsigned,
		},
		{name: "1,000 senders of a byte per second on every path", prepare: func(testing.TB, *world) []string { return nil }, during: slowSenders},
		{name: "1,000 bodies that never begin on every path", prepare: func(testing.TB, *world) []string { return nil }, during: silentSenders},
		{name: "64 bodies without an end on every path", prepare: func(testing.TB, *world) []string { return nil }, during: endlessBodies},
		{name: "1,200 streams of a token that may read nothing", prepare: func(testing.TB, *world) []string { return nil }, during: idleStreams},
	}
}

// BenchmarkAttack promotes an image of a victim while another tenant attacks.
func BenchmarkAttack(b *testing.B) {
	program := process.Build(b)
	for _, one := range attacks() {
		b.Run(one.name, func(b *testing.B) {
			w := newWorld(b)
			victim := w.follower(b, "good/app", "good/image")
			p := w.serve(b, program, append(one.prepare(b, w), victim))
			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				if one.during != nil {
					one.during(b, p, end)
				}
			}()
			var slowest time.Duration
			times, watch := promotions()
			for range times {
				w.Release("good/image")
				begin := time.Now()
				p.notify(b, w.Host+"/good/image")
				w.promoted(b, victim, "good/image")
				slowest = max(slowest, time.Since(begin))
			}
			<-time.After(watch)
			close(end)
			<-ended
			peak := p.Peak(b)
			exit := p.Stop(b)
			b.ReportMetric(slowest.Seconds(), "s-victim")
			b.ReportMetric(peak, "MiB")
			b.ReportMetric(exit.Seconds(), "s-exit")
			b.ReportMetric(0, "ns/op")
			if exit > maxExit {
				b.Errorf("it took %v to exit", exit)
			}
			if peak > maxMemory {
				b.Errorf("it used %.0f MiB", peak)
			}
		})
	}
}

// keepReleasing sends webhooks about the image of the attacker until the end, so that SIGTERM arrives
// while its repositories are reconciled.
func keepReleasing(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			p.release(t, "evil/image")
		}
	}
}

// floodUnsigned sends webhooks without a credential until the end, and checks that every
// valid one is accepted meanwhile.
func floodUnsigned(t testing.TB, p *service, end <-chan struct{}) {
	t.Helper()
	const perSecond = 135
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	valid, accepted := 0, 0
	for n := 0; ; n++ {
		select {
		case <-end:
			if accepted != valid {
				t.Errorf("%d of %d valid webhooks were refused beside %d unsigned ones", valid-accepted, valid, n)
			}
			return
		case <-tick.C:
		}
		if code := p.post(t, "none/image", false); code == http.StatusAccepted {
			t.Error("a webhook without a signature was accepted")
		}
		if n%10 == 0 {
			valid++
			if p.post(t, "none/image", true) == http.StatusAccepted {
				accepted++
			}
		}
	}
}
