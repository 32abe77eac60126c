// Package gittest is the Git behind the forges that tests run: real bare
// repositories, commits and merges made of real objects, and smart HTTP served by
// git itself, so that a clone, a push and a fake's API see the same branches.
//
// The fakes hold it under their own lock and have the words and the rules; here is
// what all of them do alike. What must not fail panics with an error, which a
// fake takes where it knows the test that failed.
//
// Support code for tests: it needs the program git.
package gittest
