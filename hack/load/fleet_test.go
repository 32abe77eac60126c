package load

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/benchworld"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// fleetRepositories is how many repositories the fleet has. `make fleet` sets it to 10,000.
var fleetRepositories = flag.Int("repositories", 500, "how many repositories BenchmarkFleet has, with 10 images each")

// The rest of its size.
const (
	fleetImages   = 10 // of each repository, in files of their own
	fleetOthers   = 9  // files beside them and the config file
	fleetReplicas = 3
	smallTenant   = 20 // repositories of the smallest tenant
	otherTenants  = 7
	warmPolls     = 1 // before the one that is measured
)

// fleet is many repositories, and the replicas that follow them.
type fleet struct {
	tb       testing.TB
	world    *world
	git      *gitHost
	names    []string // as in large/repository-1.git
	service  service
	replicas []*process
	senders  []*sender

	mu         sync.Mutex
	changed    chan struct{}  // closed with each reconciliation
	reconciled map[string]int // since the reset, by repository
	byReplica  []int
	last       time.Time // reconciliation
	warnings   int       // that were shown
	statements *statements
	cpu        time.Duration
}

// newFleet makes the repositories: nine of ten belong to one tenant, 20 at most to another.
func newFleet(tb testing.TB, options database.Options, repositories int) *fleet {
	tb.Helper()
	git := newGitHost()
	w := &world{World: benchworld.With(git), b: tb}
	tb.Cleanup(w.Close)
	f := &fleet{tb: tb, world: w, git: git, changed: make(chan struct{}), reconciled: map[string]int{}, statements: openStatements(tb, options)}
	for n := range repositories {
		tenant := "large"
		switch {
		case n < min(smallTenant, repositories/10+1):
			tenant = "small"
		case n%10 == 9:
			tenant = fmt.Sprint("other-", n%otherTenants)
		}
		name := fmt.Sprintf("%s/repository-%d.git", tenant, n)
		f.names = append(f.names, name)
		git.add(tb, name, f.files(name))
	}
	f.service = service{database: options, world: w, repositories: f.names, receivers: receivers, arguments: []string{"--quiet", "0"}}
	return f
}

func (f *fleet) image(repository string, n int) string {
	return fmt.Sprintf("%s/image-%d", strings.TrimSuffix(repository, ".git"), n)
}

// files are 20: a config file, a file for each image, and others.
func (f *fleet) files(repository string) map[string]string {
	files := map[string]string{}
	var config strings.Builder
	config.WriteString("version: 1\ncomponents:\n")
	for n := range fleetImages {
		image := f.image(repository, n)
		fmt.Fprintf(&config, "  c%d: {image: %s/%s, select: {tag: %s}, pin: tag+digest}\n", n, f.world.Host, image, benchworld.MovingTag)
		files[fmt.Sprintf("pods/%d.yaml", n)] = fmt.Sprintf("kind: Pod\nmetadata: {name: c%d}\nspec: {containers: [{image: \"%s/%s:%s@%s\"}]}\n",
			n, f.world.Host, image, benchworld.MovingTag, benchworld.Digest(image, 0))
	}
	config.WriteString("environments:\n  dev: {land: push}\n")
	files[".promoter.yaml"] = config.String()
	for n := range fleetOthers {
		files[fmt.Sprintf("services/%d.yaml", n)] = fmt.Sprintf("kind: Service\nmetadata: {name: c%d}\nspec: {ports: [{port: 80}]}\n", n)
	}
	return files
}

// start starts the replicas, each with a folder of its own.
func (f *fleet) start(replicas int) {
	f.tb.Helper()
	f.byReplica = make([]int, replicas)
	for n := range replicas {
		one := f.service
		one.folder = f.tb.TempDir()
		p := one.serve(f.tb)
		f.replicas = append(f.replicas, p)
		f.senders = append(f.senders, newSender(f.tb, p, "", fmt.Sprint("replica-", n)))
		go f.follow(n, p)
	}
	f.reset()
}

// follow counts the reconciliations of a replica.
func (f *fleet) follow(n int, p *process) {
	for one := range p.lines {
		f.mu.Lock()
		switch {
		case one.Message == "reconciled":
			f.reconciled[one.Repository]++
			f.byReplica[n]++
			f.last = one.at
			close(f.changed)
			f.changed = make(chan struct{})
		case one.Level != "INFO" && f.warnings < 20:
			f.warnings++
			f.tb.Logf("replica %d: %s %s %s %s", n, one.Level, one.Message, one.Repository, one.Error)
		}
		f.mu.Unlock()
	}
}

// reset begins to count again.
func (f *fleet) reset() {
	f.tb.Helper()
	f.mu.Lock()
	clear(f.reconciled)
	clear(f.byReplica)
	f.mu.Unlock()
	f.world.Asked()
	f.world.Heads()
	f.statements.reset()
	f.cpu = f.processorTime()
}

// processorTime returns that of all replicas.
func (f *fleet) processorTime() (sum time.Duration) {
	f.tb.Helper()
	for _, p := range f.replicas {
		sum += processorTime(f.tb, p.command.Process.Pid)
	}
	return sum
}

// wait waits until so many different repositories were reconciled since the reset.
func (f *fleet) wait(repositories int) {
	f.tb.Helper()
	late := time.After(4 * patience)
	for {
		f.mu.Lock()
		n, changed := len(f.reconciled), f.changed
		f.mu.Unlock()
		if n >= repositories {
			return
		}
		select {
		case <-changed:
		case <-late:
			f.tb.Fatalf("only %d of %d repositories were reconciled", n, repositories)
		}
	}
}

// release moves the tag of an image, and reports that to some replica. It returns how long it
// took until the push.
func (f *fleet) release(repository string) time.Duration {
	f.tb.Helper()
	n := rand.IntN(fleetImages)
	pushed, begin := f.git.expect(repository), time.Now()
	f.report(repository, n)
	select {
	case at := <-pushed:
		return at.Sub(begin)
	case <-time.After(patience):
		f.tb.Fatalf("no push to %s", repository)
		return 0
	}
}

// report moves the tag of an image, and sends its webhook.
func (f *fleet) report(repository string, n int) {
	image := f.image(repository, n)
	f.world.Release(image)
	f.senders[rand.IntN(len(f.senders))].postImage(f.world.Host + "/" + image)
}

// of returns the repositories of a tenant.
func (f *fleet) of(tenant string) []string {
	return slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return !strings.HasPrefix(name, tenant+"/") })
}

// poll is what one poll of everything costs, in which nothing is new.
type poll struct {
	took            time.Duration
	reconciliations int
	byReplica       []int
	heads           map[string]int
	requests        map[string]int
	statements      []statement
	transactions    int
	cpu, postgres   time.Duration
}

// rests waits until no repository is queued or being reconciled.
func (f *fleet) rests() {
	f.tb.Helper()
	late := time.Now().Add(4 * patience)
	for left := 1; left > 0; <-time.After(50 * time.Millisecond) {
		if time.Now().After(late) {
			f.tb.Fatalf("%d repositories are still queued", left)
		}
		f.statements.one(&left, "select count(*) "+byLoad+" from work where kind = 'repository' and (owner <> '' or triggered > done and triggered_at > 0)")
	}
}

// startPoll makes all images stale, and lets all repositories have their turn now, instead of
// one after the other.
func (f *fleet) startPoll() {
	f.tb.Helper()
	f.rests()
	f.reset()
	f.statements.execute("update schedule " + byLoad + " set fired_at = (extract(epoch from clock_timestamp()) * 1000000)::bigint where name = 'start'")
	f.statements.execute("update schedule " + byLoad + " set fired_at = 1 where name = 'turn'")
	f.statements.execute("update work " + byLoad + " set not_before = 1 where kind = 'turn'")
	f.wait(1)
}

// measurePoll lets the fleet poll once.
func (f *fleet) measurePoll() (p poll) {
	f.tb.Helper()
	f.startPoll()
	begin := time.Now()
	f.wait(len(f.names))
	f.rests()
	p.cpu = f.processorTime() - f.cpu
	p.statements, p.transactions, p.postgres = f.statements.read()
	p.heads, p.requests = f.world.Heads(), f.world.Asked()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.byReplica {
		p.reconciliations += n
	}
	p.took, p.byReplica = f.last.Sub(begin), slices.Clone(f.byReplica)
	return p
}

// report writes the figures.
func (p poll) report(b *testing.B) {
	b.Helper()
	each := float64(p.reconciliations)
	b.ReportMetric(p.took.Seconds(), "s-poll")
	b.ReportMetric(each, "reconciliations")
	b.ReportMetric(float64(len(p.heads)), "images-queried")
	b.ReportMetric(float64(slices.Max(slices.Collect(maps.Values(p.heads)))), "HEADs-most")
	b.ReportMetric(float64(sum(p.requests)-p.requests["HEAD manifests"]), "other-requests")
	b.ReportMetric(float64(slices.Max(p.byReplica))/each, "share-most")
	b.ReportMetric(float64(calls(p.statements))/each, "queries/reconciliation")
	b.ReportMetric(float64(frequent(p.statements, len(p.heads))), "queries/image")
	b.ReportMetric(float64(p.transactions)/each, "transactions/reconciliation")
	b.ReportMetric(p.cpu.Seconds()*1000/each, "ms-CPU/reconciliation")
	b.ReportMetric(p.postgres.Seconds()*1000/each, "ms-PostgreSQL/reconciliation")
	b.Logf("requests of a poll: %v", p.requests)
	b.Logf("statements of a poll:\n%s", describe(p.statements))
}

// BenchmarkFleet lets three replicas follow many repositories on PostgreSQL: first they make
// their mirrors, then they poll, then webhooks come one by one, at rest and during a poll, and
// last those of a large tenant by the hundred, and of a small one beside them.
func BenchmarkFleet(b *testing.B) {
	repositories := *fleetRepositories
	f := newFleet(b, onPostgreSQL(b), repositories)
	f.start(fleetReplicas)
	begin := f.replicas[0].begun
	f.wait(repositories)
	first := f.last.Sub(begin).Seconds()
	_, _, postgres := f.statements.read()
	mirrors := f.processorTime()
	made := f.memory()
	for range warmPolls { // in which each replica reads much of what another one had read before
		f.measurePoll()
	}
	for b.Loop() {
		f.measurePoll().report(b)
	}
	each := 1000 / float64(repositories)
	b.ReportMetric(first, "s-first")
	b.ReportMetric(mirrors.Seconds()*1000/float64(repositories), "ms-CPU-first/repository")
	b.ReportMetric(postgres.Seconds()*1000/float64(repositories), "ms-PostgreSQL-first/repository")
	b.ReportMetric(made, "MiB-first")
	b.ReportMetric(f.memory(), "MiB")
	b.ReportMetric((f.memory()-alone(b))*each, "MiB/1000-repositories")
	f.latencies(b)
	f.burst(b)
	b.ReportMetric(f.idle(), "queries/s-idle")
	b.ReportMetric(0, "ns/op")
	for _, p := range f.replicas {
		p.stop()
	}
}

// alone returns the peak memory of a replica of one repository.
func alone(b *testing.B) float64 {
	b.Helper()
	f := newFleet(b, onPostgreSQL(b), 1)
	f.start(1)
	f.wait(1)
	defer f.replicas[0].stop()
	return f.memory()
}

// onPostgreSQL returns an empty database there.
func onPostgreSQL(tb testing.TB) database.Options {
	tb.Helper()
	for _, kind := range databasetest.Kinds() {
		if kind.Name == "PostgreSQL" {
			return kind.New(tb)
		}
	}
	tb.Fatal("there is no such database")
	return database.Options{}
}

// idle returns how many queries the replicas send in a second in which nothing happens.
func (f *fleet) idle() float64 {
	f.tb.Helper()
	f.rests()
	f.statements.reset()
	<-time.After(10 * time.Second)
	all, _, _ := f.statements.read()
	return float64(calls(all)) / 10
}

// memory returns the peak of the largest replica, in MiB.
func (f *fleet) memory() (most float64) {
	for _, p := range f.replicas {
		most = max(most, p.peak())
	}
	return most
}

// How many webhooks are measured, and how many a burst of the large tenant has.
const (
	fleetWebhooks = 40
	fleetBurst    = 500
)

// latencies measures single webhooks until their push, at rest and during a poll.
func (f *fleet) latencies(b *testing.B) {
	b.Helper()
	measure := func(when string) {
		var took samples
		for range fleetWebhooks {
			took = append(took, f.release(f.names[rand.IntN(len(f.names))]))
		}
		b.ReportMetric(took.at(0.5), "ms-median-"+when)
		b.ReportMetric(took.at(0.95), "ms-p95-"+when)
	}
	f.rests()
	measure("rest")
	f.startPoll()
	measure("poll")
	f.mu.Lock()
	defer f.mu.Unlock()
	b.ReportMetric(float64(len(f.names)-len(f.reconciled)), "left-of-poll")
}

// burst sends webhooks about different repositories of the large tenant all at once, and some of
// the small tenant, one after the other, until the first ones have all led to a push.
func (f *fleet) burst(b *testing.B) {
	b.Helper()
	f.rests()
	large, small := f.of("large"), f.of("small")
	rand.Shuffle(len(large), func(i, j int) { large[i], large[j] = large[j], large[i] })
	large = large[:min(len(large), fleetBurst)]
	pushed, done := map[string]<-chan time.Time{}, make(chan struct{})
	for _, name := range large {
		pushed[name] = f.git.expect(name)
	}
	var whole samples
	begin := time.Now()
	go func() {
		defer close(done)
		for _, at := range pushed {
			whole = append(whole, (<-at).Sub(begin))
		}
	}()
	var senders sync.WaitGroup
	for part := range slices.Chunk(large, len(large)/connections+1) {
		senders.Go(func() {
			for _, name := range part {
				f.report(name, 0)
			}
		})
	}
	senders.Wait()
	var took samples
	for over := false; !over || len(took) == 0; {
		took = append(took, f.release(small[rand.IntN(len(small))]))
		select {
		case <-done:
			over = true
		default:
		}
	}
	<-done
	b.ReportMetric(took.at(0.5), "ms-median-small")
	b.ReportMetric(took.at(0.95), "ms-p95-small")
	b.ReportMetric(float64(len(took)), "pushes-small")
	b.ReportMetric(whole.at(0.5), "ms-median-large")
	b.ReportMetric(whole.at(1), "ms-burst")
}

// The smallest fleet: each repository and each image has one turn in a poll, and an event of each
// tenant leads to its push.
func TestFleet_eachImageIsQueriedOnceInAPoll(t *testing.T) {
	t.Parallel()
	f := newFleet(t, onPostgreSQL(t), 30)
	f.start(2)
	f.wait(len(f.names))
	p := f.measurePoll()
	if images := len(f.names) * fleetImages; len(p.heads) != images || p.requests["HEAD manifests"] != images || p.reconciliations != len(f.names) {
		t.Errorf("%d images of %d were queried, %d times, in %d reconciliations", len(p.heads), images, p.requests["HEAD manifests"], p.reconciliations)
	}
	if n := frequent(p.statements, len(p.heads)); n > 0 {
		t.Errorf("%d queries for each image:\n%s", n, describe(p.statements))
	}
	for _, tenant := range []string{"large", "small"} {
		f.release(f.of(tenant)[0])
	}
	for _, p := range f.replicas {
		p.stop()
	}
}
