// Package store contains what the service stores besides its work: deliveries, which
// repository subscribes to what, the results of reconciliations, schedules, and
// history. All but deliveries and history is an index that is rebuilt from the
// repositories if it is lost.
//
// Methods that take a transaction write with it, so that a delivery and the work it
// causes are on disk together.
package store
