// Package queue stores work that must not be lost: one row for each kind and
// key, for instance for the reconciliation of a repository.
//
// A trigger means that there may be work. It is written in the transaction of
// its cause, so both are on disk or neither. Triggers of one key coalesce: a
// run reads their number, works, and marks that many as done, so a trigger that
// arrives in between leads to another run. Only the key is stored; a run
// determines by itself what there is to do.
//
// A run holds a lease on its key and renews it. The leases of a process that
// dies expire; on SQLite, which serves one process, they end when the next
// process starts. No two runs of a key hold a valid lease at the same time. A
// run that loses its lease is notified through its context, and must make its
// effects conditional.
//
// A failed run is retried with increasing delays, and its error is stored. Work
// that was running when a process died is a suspect: it is retried alone, and,
// if nothing else was running, later each time (crash.go).
//
// Work belongs to tenants, who share the workers of a process. Urgent work comes
// first (share.go).
package queue
