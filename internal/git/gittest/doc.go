// Package gittest provides the Git side of fake forges: real bare repositories,
// commits and merges of real objects, and smart HTTP served by git itself, so that a
// clone, a push, and the API of a fake see the same branches. It also runs git for
// tests and writes objects by hand, including invalid ones.
//
// The fakes do the locking and have the rules and messages of their forges. What must
// not fail panics with an error, which a fake recovers where it knows the test.
//
// Support code for tests: it needs the program git.
package gittest
