// Package database opens the database of the service: an SQLite file by default, or
// a PostgreSQL server if a URL is configured. Other packages write one SQL dialect
// (see dialect) and do not depend on which of the two is used.
//
// View reads one consistent state. Update writes in one transaction; when it returns
// nil, the changes are on disk: SQLite flushes with every commit, and PostgreSQL is
// configured not to confirm a commit before it has flushed.
//
// A function that receives a transaction must use only that transaction. Update may
// call it more than once, when transactions of two replicas conflict, so it must not
// keep results of an earlier call.
//
// Times are stored as UTC microseconds since 1970 in both databases; 0 is no time.
package database
