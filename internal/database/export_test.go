package database

import (
	"strings"
	"time"
)

// Translate returns a query in the words of SQLite, of PostgreSQL with its own
// clock, and of PostgreSQL with an injected one.
func Translate(written string) []string {
	var all []string
	for _, d := range []dialect{sqliteDialect(), postgresDialect(true), postgresDialect(false)} {
		q := d.translate(written)
		if again := d.translate(written); again != q {
			panic("another translation the second time")
		}
		text := q.text
		if q.now {
			text += " + now"
		}
		all = append(all, strings.Join(strings.Fields(text), " "))
	}
	return all
}

// SetTimeout changes how long a transaction may take.
func SetTimeout(d *DB, timeout time.Duration) { d.timeout = timeout }
