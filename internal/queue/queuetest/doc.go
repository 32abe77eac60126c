// Package queuetest is what the queue promises, as a suite that runs on every kind
// of database.
package queuetest
