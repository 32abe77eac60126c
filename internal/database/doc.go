// Package database opens the one database of the service: an SQLite file by
// default, or a PostgreSQL server by its URL. It knows how the two differ and lets
// nobody else know.
//
// There are three kinds of transactions. View reads one consistent state. Update
// writes in a transaction of its own. Batch writes together with all other callers
// that wait at this moment, so that one commit and one flush to the disk serve many
// of them; each gets its own result.
//
// What Update and Batch return nil for is on the disk: an SQLite file is flushed
// with every commit, and a PostgreSQL server is asked not to answer before it has
// flushed.
//
// A function that is handed a transaction uses nothing but that transaction. It may
// run more than once, when another caller of its batch failed or two servers met,
// so it may not keep what an earlier run found.
//
// Times are UTC microseconds since 1970 in both databases, and 0 is no time.
package database
