package app_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// previousVariable names the program of the previous release, which hack/tools builds.
const previousVariable = "PROMOTER_PREVIOUS"

// previousRelease returns that program.
func previousRelease(t *testing.T) string {
	t.Helper()
	program := os.Getenv(previousVariable)
	if program == "" {
		t.Skip(previousVariable + " is not set: the previous release was not run; hack/tools previous prints its value")
	}
	return program
}

// upgrade is a story that two releases serve.
type upgrade struct {
	*mortal
	older orders // of the previous release
}

func newUpgrade(t *testing.T, kind databasetest.Kind, poll string) *upgrade {
	t.Helper()
	program := previousRelease(t)
	u := &upgrade{mortal: newMortal(t, kind, reviewed, poll)}
	u.older = u.orders
	u.older.Program = program
	return u
}

// published pushes a version of web, and sends the webhook.
func (u *upgrade) published(tag string) {
	u.t.Helper()
	u.release("web", tag)
	u.post(u.pushedImages(tag, tag, "web"))
	u.settle()
}

// changed lets the service know about a pull request.
func (u *upgrade) changed() {
	u.t.Helper()
	u.post(u.happened("pull_request"))
	u.settle()
}

// commands writes a command to a pull request, and waits until it is executed.
func (u *upgrade) commands(number int, text string) {
	u.t.Helper()
	id := u.repo.Pulls.Comment("ada", number, text)
	for late := time.Now().Add(patience); len(u.repo.Pulls.Reactions(id)) == 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(late) {
			u.t.Fatalf("%s is not executed:\n%s", text, u.process.log())
		}
		u.changed()
	}
	u.reacted(id, "+1")
}

// titled checks the title of a pull request.
func (u *upgrade) titled(number int, version string) {
	u.t.Helper()
	if title := u.repo.Pulls.Get(number).Title; !strings.Contains(title, version) {
		u.t.Errorf("#%d is %q, want %s", number, title, version)
	}
}

// replace ends the process, and starts the next one.
func (u *upgrade) replace(next orders) {
	u.t.Helper()
	u.process.end()
	u.start(next)
	u.settle()
}

// refused checks that a process of the previous release ends at once, and why.
func (u *upgrade) refused() {
	u.t.Helper()
	late := u.begin(u.older)
	if late.answers() {
		u.t.Fatal("the previous release starts on a newer database")
	}
	if want := "the database was used by a newer promoter"; !strings.Contains(late.log(), want) {
		u.t.Errorf("the log of the previous release lacks %q:\n%s", want, late.log())
	}
}

// history lists the events that the database has.
func (u *upgrade) history() (events []string) {
	u.t.Helper()
	u.each(u.t, "select id, environment, action, versions, number, message from history order by id", func(scan func(...any) error) error {
		var id, environment, action, versions, message string
		var number int64
		err := scan(&id, &environment, &action, &versions, &number, &message)
		events = append(events, fmt.Sprint(id, " ", environment, " ", action, " ", versions, " ", number, " ", message))
		return err
	})
	return events
}

// The previous release serves, then this one, and after a restored backup the previous one
// again. User decisions, promotions, and the history survive.
func TestServe_upgradedAndDowngraded(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		u := newUpgrade(t, kind, "1h")
		u.start(u.older)
		u.settle()
		u.published("1.1.0")
		u.repo.Pulls.Close("ada", 1) // a decision, which the state branch has
		u.changed()
		u.published("1.2.0")
		u.commands(2, "/promoter hold database migration")
		u.pulls(stagingHead+" closed", stagingHead+" open")
		u.process.end()
		before, restore := u.history(), databasetest.Backup(t, u.options)
		if len(before) == 0 {
			t.Fatal("the previous release has no history")
		}
		if *recordPrevious {
			u.record()
		}

		u.start(u.orders)
		u.settle()
		u.keptAll()
		u.published("1.3.0")
		u.holds("dev", "1.3.0 1.0.0")
		u.titled(2, "1.2.0") // on hold
		u.commands(2, "/promoter resume")
		u.titled(2, "1.3.0")
		u.pulls(stagingHead+" closed", stagingHead+" open")
		after := u.history()
		for _, event := range before {
			if !slices.Contains(after, event) {
				t.Errorf("the upgrade lost or changed the event %s", event)
			}
		}
		u.process.end()

		u.refused()
		restore()
		u.start(u.older)
		u.settle()
		u.pulls(stagingHead+" closed", stagingHead+" open")
		u.published("1.4.0")
		u.titled(2, "1.4.0") // still resumed
		u.repo.Pulls.Merge("ada", 2, "squash")
		u.changed()
		u.pulls(stagingHead+" closed", stagingHead+" merged", prodHead+" open")
		u.replace(u.orders)
		u.pulls(stagingHead+" closed", stagingHead+" merged", prodHead+" open")
		u.process.end()
		u.calm()
	})
}

// Replicas are replaced one by one while webhooks arrive. Those of both releases share the
// work, and each environment has one pull request at any time.
func TestServe_replicasOfTwoReleases(t *testing.T) {
	t.Parallel()
	u := newUpgrade(t, databasetest.Kinds()[1], pollOfCompany.String()) // skips without PostgreSQL
	c := &company{mortal: u.mortal}
	join := func(o orders) *process {
		o.Lease, o.File = leaseOfCompany, u.processFile(fmt.Sprintf("data-%d", len(c.all)))
		one := u.begin(o)
		if !one.answers() {
			t.Fatalf("replica %d ended:\n%s", len(c.all), one.log())
		}
		c.all, c.process = append(c.all, one), one
		return one
	}
	first, second := join(u.older), join(u.older)
	c.settle()
	c.release("web", "1.1.0")
	c.burst("1.1.0", c.all, func() { join(u.orders) }) // it migrates while the others work
	c.settle()
	c.pulls(stagingHead + " open")
	u.refused()

	c.release("web", "1.2.0")
	c.burst("1.2.0", []*process{second, c.all[2]}, first.end)
	c.settle()
	u.titled(1, "1.2.0")
	c.repo.Pulls.Merge("ada", 1, "squash")
	c.postTo(second, c.happened("pull_request")) // the previous release after the migration
	c.settle()
	c.pulls(stagingHead+" merged", prodHead+" open")

	join(u.orders)
	c.release("web", "1.3.0")
	c.burst("1.3.0", c.all[2:], second.end)
	c.settle()
	c.pulls(stagingHead+" merged", prodHead+" open", stagingHead+" open")
	c.keptAll()
	for _, one := range c.all[2:] {
		one.end()
	}
	c.holds("dev", "1.3.0 1.0.0")
	c.calm()
}
