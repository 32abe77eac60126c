// Package store keeps what the service knows besides its work: deliveries, which
// lane follows what, and how lanes did. Deliveries are history; everything else is
// an index over the repositories, found again when it is lost.
//
// Functions that take a transaction write with it, so that a delivery and the work
// that it causes are on the disk together.
package store
