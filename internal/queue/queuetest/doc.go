// Package queuetest is the test suite of the queue, for every kind of database.
package queuetest
