// Package githubtest is a GitHub for tests: a server on loopback that keeps
// state, refuses what it does not know, and does the unpleasant things that the
// real one does. Its repositories are real bare Git repositories, served over
// smart HTTP by git itself, so a clone, a push and the API see the same branches.
//
// It has the layout of GitHub Enterprise: pages and Git at the root, the API below
// /api/v3/. A request that it has no route for fails the test. Every request and
// answer is held against GitHub's own description where that is at hand; see
// Judge.
//
// Support code for tests: it needs the program git.
package githubtest
