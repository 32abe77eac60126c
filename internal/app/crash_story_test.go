package app_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"promoter/internal/database/databasetest"
	"promoter/internal/scm/forgetest"
)

// drama is a random story whose processes are killed.
type drama struct {
	*mortal
	plot, fate *rand.Rand // what happens, and which process is killed when
	acts       []string   // what happened, and the state after it
	versions   int        // released so far

	dice   sync.Mutex
	kills  int // that remain
	deaths int // that remain in this act
	life   int // requests and log lines until the next kill
}

func newDrama(t *testing.T, kind databasetest.Kind, seed uint64, kills int) *drama {
	t.Helper()
	d := &drama{
		mortal: newMortal(t, kind, chain, "1h"), kills: kills,
		plot: rand.New(rand.NewPCG(seed, 1)), fate: rand.New(rand.NewPCG(seed, 2)),
	}
	d.event = d.live
	return d
}

// play plays acts until the story is over.
func (d *drama) play(over func() bool) {
	d.t.Helper()
	d.start(d.orders)
	d.settle()
	for !over() && !d.t.Failed() {
		act, webhooks := d.act()
		d.threaten()
		d.send(webhooks)
		d.settle()
		d.strike()
		d.acts = append(d.acts, act+"\n"+d.state())
	}
	d.keptAll()
	d.process.end()
	d.calm()
}

// longestLife is the maximum of requests and log lines of a process until it is killed.
// A reconciliation that proposes something has about thirty.
const longestLife = 40

// threaten kills up to two processes in this act: work that was running each time is
// delayed twice as long.
func (d *drama) threaten() {
	d.dice.Lock()
	defer d.dice.Unlock()
	d.deaths = min(1+d.fate.IntN(2), d.kills)
	d.life = 1 + d.fate.IntN(longestLife)
}

// live kills the process when its time has come: before a write to the forge is done,
// or after it, so that the response is lost.
func (d *drama) live(write string) (killed *process) {
	d.dice.Lock()
	defer d.dice.Unlock()
	if d.deaths == 0 {
		return nil
	}
	if d.life--; d.life > 0 {
		return nil
	}
	if write != "" && d.fate.IntN(2) == 0 {
		d.forge.Fail(write, 500, "the test killed who asked")
	}
	d.deaths, d.kills, d.life = d.deaths-1, d.kills-1, 1+d.fate.IntN(longestLife)
	killed = d.present()
	killed.strike()
	return killed
}

// over reports whether all kills were done.
func (d *drama) over() bool {
	d.dice.Lock()
	defer d.dice.Unlock()
	return d.kills == 0
}

// strike kills processes that outlived this act, when all work is done. A process that
// was killed late, just after the work was done, has a successor too.
func (d *drama) strike() {
	d.t.Helper()
	d.dice.Lock()
	left := d.deaths
	d.kills, d.deaths = d.kills-left, 0
	d.dice.Unlock()
	d.settle()
	for range left {
		d.process.kill()
		d.settle()
	}
}

// send posts webhooks in parallel. Some senders retry those without an answer until
// they are answered.
func (d *drama) send(webhooks []delivery) {
	d.t.Helper()
	answered := make([]bool, len(webhooks))
	var all sync.WaitGroup
	for i, one := range webhooks {
		all.Go(func() { answered[i] = d.post(one) })
	}
	all.Wait()
	for i, one := range webhooks {
		for again := d.chance(); again && !answered[i]; answered[i] = d.post(one) {
			d.settle()
		}
	}
}

func (d *drama) chance() bool {
	d.dice.Lock()
	defer d.dice.Unlock()
	return d.fate.IntN(2) == 0
}

// act is one thing that happens, and the webhooks about it.
func (d *drama) act() (name string, webhooks []delivery) {
	d.t.Helper()
	open := slices.IndexFunc(d.repo.Pulls.All(), func(p forgetest.PullState) bool { return p.Open })
	chosen := d.plot.IntN(4)
	if open >= 0 {
		chosen = d.plot.IntN(9)
	}
	switch chosen {
	case 0, 1, 7, 8:
		return d.publish()
	case 2:
		d.edit("ada", "main", "staging/shop.yaml", "kind: Deployment", "kind: Deployment # "+fmt.Sprint(len(d.acts)))
		return "somebody changes a file of staging", d.events("push")
	case 3:
		d.repo.Git.Commit("ada", "main", "Elsewhere", map[string]string{"README": fmt.Sprint(len(d.acts))})
		return "somebody pushes elsewhere", d.events("push")
	case 4:
		d.repo.Pulls.Close("ada", open+1)
		return "somebody rejects", d.events("pull_request")
	default:
		method := []string{"merge", "squash", "rebase"}[d.plot.IntN(3)]
		d.repo.Pulls.Merge("ada", open+1, method)
		return "somebody merges by " + method, d.events("pull_request", "push")
	}
}

// publish pushes a version of one component, or of both at once.
func (d *drama) publish() (name string, webhooks []delivery) {
	d.t.Helper()
	d.versions++
	tag := fmt.Sprintf("1.%d.0", d.versions)
	components := [][]string{{"web"}, {"worker"}, {"web", "worker"}}[d.plot.IntN(3)]
	for _, component := range components {
		d.image(component, tag, component+" "+tag, workday())
	}
	for i := range 1 + d.plot.IntN(6) {
		webhooks = append(webhooks, d.pushedImages(tag, fmt.Sprintf("%s-%d", tag, i/2), components...)) // every second one is a redelivery
	}
	return "the registry has " + tag + " of " + strings.Join(components, " and "), webhooks
}

func (d *drama) events(names ...string) (webhooks []delivery) {
	for _, name := range names {
		webhooks = append(webhooks, d.happened(name))
	}
	return webhooks
}

// The differences between two worlds in which the same happened.
var (
	commitIDs = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	moments   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

// state is the state of the world: pull requests, commits, and the bytes of all
// branches.
func (d *drama) state() string {
	d.t.Helper()
	var text strings.Builder
	for _, p := range d.repo.Pulls.All() {
		fmt.Fprintf(&text, "%d %s to %s %q open:%t merged:%t by %s, %d comments\n", p.Number, p.Head, p.Base, p.Title, p.Open, p.Merged, p.Closer, len(p.Comments))
	}
	text.WriteString(d.repo.Git.Run("log", "--first-parent", "-m", "--format=%s", "--name-only", "main") + "\n")
	for _, branch := range strings.Fields(d.repo.Git.Run("for-each-ref", "--format=%(refname:short)", "refs/heads")) {
		for _, file := range strings.Fields(d.repo.Git.Run("ls-tree", "-r", "--name-only", branch)) {
			fmt.Fprintf(&text, "--- %s %s\n%s\n", branch, file, d.repo.Git.Run("show", branch+":"+file))
		}
	}
	state := strings.NewReplacer(d.host, "REGISTRY", d.forge.Host(), "FORGE").Replace(text.String())
	for _, version := range slices.Sorted(maps.Keys(d.digests)) {
		state = strings.ReplaceAll(state, d.digests[version], "DIGEST-OF-"+version)
	}
	return moments.ReplaceAllString(commitIDs.ReplaceAllString(state, "COMMIT"), "TIME")
}
