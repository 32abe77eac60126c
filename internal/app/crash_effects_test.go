package app_test

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"

	"promoter/internal/database"
)

// point is one durable effect of the service, identified by the statements of its
// transaction.
type point struct {
	name     string
	text     string // of a statement
	argument string // of the same one
	claims   string // set: only if work of that kind can be claimed
}

// The durable effects of the service. Those of a reconciliation, in Git and at a forge,
// have a test of their own in internal/reconcile.
var points = []point{
	{name: "leases of the process before are freed", text: "where owner <> ''"},
	{name: "the poll of the start is triggered", text: "insert into work", argument: `"kind":"poll"`},
	{name: "the poll is claimed", text: "claimed = triggered, attempts", argument: "poll", claims: "poll"},
	{name: "the poll triggers repositories", text: "insert into work", argument: `"kind":"repository"`},
	{name: "a repository is deleted", text: "delete from repository where"},
	{name: "the poll is done", text: "done = claimed", argument: "poll"},
	{name: "the sweep is claimed", text: "claimed = triggered, attempts", argument: "sweep", claims: "sweep"},
	{name: "old deliveries are removed", text: "delete from delivery where"},
	{name: "deliveries beyond the bound are removed", text: "delete from delivery where", argument: beyondBound},
	{name: "the sweep is done", text: "done = claimed", argument: "sweep"},
	{name: "a delivery is stored with its trigger", text: "insert into delivery"},
	{name: "a reconciliation is claimed", text: "claimed = triggered, attempts", argument: "repository", claims: "repository"},
	{name: "a lease is renewed", text: "update work set lease_until", argument: "repository"},
	{name: "subscriptions are stored", text: "insert into subscription"},
	{name: "a reconciliation is recorded", text: "insert into repository ("},
	{name: "a reconciliation is done", text: "done = claimed", argument: "repository"},
	{name: "a reconciliation failed", text: "lease_until = 0, last_error"},
	{name: "work is forgotten", text: "delete from work"},
}

// reached reports whether a transaction is that of the point.
func (p point) reached(done []database.Statement) bool {
	for _, statement := range done {
		if !strings.Contains(statement.Text, p.text) {
			continue
		}
		for _, argument := range append([]any{""}, statement.Arguments...) {
			if strings.Contains(fmt.Sprint(argument), p.argument) {
				return true
			}
		}
	}
	return false
}

// around ends the process at its point, before or after the commit.
func (o orders) around(done []database.Statement, commit func() error) error {
	here := points[slices.IndexFunc(points, func(p point) bool { return p.name == o.Point })]
	if !here.reached(done) {
		return commit()
	}
	if o.Before && o.has(here.claims, "owner = '' and triggered > done") {
		die()
	}
	err := commit()
	if err == nil && o.has(here.claims, "owner <> ''") {
		die()
	}
	return err
}

// has reports whether there is such work of a kind. A claim that finds none has no
// effect.
func (o orders) has(kind, such string) bool {
	if kind == "" {
		return true
	}
	db, err := sql.Open(o.Driver, o.Source)
	if err != nil {
		panic(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	found := 0
	if err := db.QueryRow("select count(*) from work where kind = '" + kind + "' and " + such).Scan(&found); err != nil { //nolint:noctx // nothing cancels it
		panic(err)
	}
	return found > 0
}

// die ends the process like a crash.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}
