// Package queue keeps work that must not be lost: one row for each kind and key, a
// lane's for instance, or a message's.
//
// A hint says that there may be work. It is written in the transaction of whatever
// caused it, so either both are on the disk or neither. Hints for one key coalesce:
// a run reads how many there were, works, and is done with that many, so a hint that
// comes meanwhile is seen by another run. Nothing but the key is kept, for a run
// finds out by itself what there is to do.
//
// A run holds its key by a lease, which it renews. A process that dies loses its
// leases by time; on SQLite, which one process uses, they end when the next one
// begins. No two runs have one key while the lease of one is good. Whoever loses the
// lease is told by the context and must make its effects conditional.
//
// A run that fails is tried again, later each time, with its error beside it. A run
// that takes the whole process with it is soon held back, so that others get on.
package queue
