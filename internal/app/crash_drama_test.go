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
	"promoter/internal/scm/github/githubtest"
)

// drama is a random story of a mortal.
type drama struct {
	*mortal
	plot, fate *rand.Rand // what happens, and who dies when
	acts       []string   // what happened, and how the world was after it
	versions   int        // that were released

	dice   sync.Mutex
	kills  int // that are left
	deaths int // of this act, that are left
	life   int // signs of life until the next one
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

// play plays acts until it is over.
func (d *drama) play(over func() bool) {
	d.t.Helper()
	d.start(d.orders)
	d.settle()
	for !over() && !d.t.Failed() {
		act, told := d.act()
		d.threaten()
		d.tell(told)
		d.settle()
		d.strike()
		d.acts = append(d.acts, act+"\n"+d.state())
	}
	d.keptAll()
	d.process.end()
	d.calm()
}

// longestLife is how many signs of life a process gives at most until it is killed.
// A look in which something is proposed gives about thirty.
const longestLife = 40

// threaten lets up to two processes die in this act: work that took three with it is
// held back for a minute.
func (d *drama) threaten() {
	d.dice.Lock()
	defer d.dice.Unlock()
	d.deaths = min(1+d.fate.IntN(2), d.kills)
	d.life = 1 + d.fate.IntN(longestLife)
}

// live kills the process when its time has come: before a write to the forge is
// carried out, or after it, so that the answer is lost.
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

// over says that all who were to die did.
func (d *drama) over() bool {
	d.dice.Lock()
	defer d.dice.Unlock()
	return d.kills == 0
}

// strike kills those that lived too long for this act, at rest. Who was killed for a
// late sign of life, just after it came to rest, is followed by another one too.
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

// tell posts webhooks side by side. Of those that nobody answered, some senders try
// again until they are.
func (d *drama) tell(told []delivery) {
	d.t.Helper()
	answered := make([]bool, len(told))
	var all sync.WaitGroup
	for i, one := range told {
		all.Go(func() { answered[i] = d.post(one) })
	}
	all.Wait()
	for i, one := range told {
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

// act is one thing that happens, and what is told of it.
func (d *drama) act() (name string, told []delivery) {
	d.t.Helper()
	open := slices.IndexFunc(d.repo.Pulls(), func(p githubtest.Pull) bool { return p.Open })
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
		d.repo.ClosePull("ada", open+1)
		return "somebody rejects", d.events("pull_request")
	default:
		method := []string{"merge", "squash", "rebase"}[d.plot.IntN(3)]
		d.repo.MergePull("ada", open+1, method)
		return "somebody merges by " + method, d.events("pull_request", "push")
	}
}

// publish pushes a version of one component, or of both at once.
func (d *drama) publish() (name string, told []delivery) {
	d.t.Helper()
	d.versions++
	tag := fmt.Sprintf("1.%d.0", d.versions)
	components := [][]string{{"web"}, {"worker"}, {"web", "worker"}}[d.plot.IntN(3)]
	for _, component := range components {
		d.image(component, tag, component+" "+tag, workday())
	}
	for i := range 1 + d.plot.IntN(6) {
		told = append(told, d.pushedImages(tag, fmt.Sprintf("%s-%d", tag, i/2), components...)) // each second one is a repetition
	}
	return "the registry has " + tag + " of " + strings.Join(components, " and "), told
}

func (d *drama) events(names ...string) (told []delivery) {
	for _, name := range names {
		told = append(told, d.happened(name))
	}
	return told
}

// What differs between two worlds in which the same happened.
var (
	commitIDs = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	moments   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

// state is the world: pull requests, commits, and the bytes of all branches.
func (d *drama) state() string {
	d.t.Helper()
	var text strings.Builder
	for _, p := range d.repo.Pulls() {
		fmt.Fprintf(&text, "%d %s to %s %q open:%t merged:%t by %s, %d comments\n", p.Number, p.Head, p.Base, p.Title, p.Open, p.Merged, p.Closer, len(p.Comments))
	}
	text.WriteString(d.repo.Git.Run("log", "--first-parent", "-m", "--format=%s", "--name-only", "main") + "\n")
	for _, branch := range strings.Fields(d.repo.Git.Run("for-each-ref", "--format=%(refname:short)", "refs/heads")) {
		for _, file := range strings.Fields(d.repo.Git.Run("ls-tree", "-r", "--name-only", branch)) {
			fmt.Fprintf(&text, "--- %s %s\n%s\n", branch, file, d.repo.Git.Run("show", branch+":"+file))
		}
	}
	said := strings.NewReplacer(d.host, "REGISTRY", d.forge.Host(), "FORGE").Replace(text.String())
	for _, version := range slices.Sorted(maps.Keys(d.digests)) {
		said = strings.ReplaceAll(said, d.digests[version], "DIGEST-OF-"+version)
	}
	return moments.ReplaceAllString(commitIDs.ReplaceAllString(said, "COMMIT"), "TIME")
}
