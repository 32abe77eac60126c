// Package giteatest is a Gitea for tests: a server on loopback that keeps state,
// refuses what it does not know, and does the unpleasant things that the real one
// does. Its repositories are real bare Git repositories, served over smart HTTP by
// git itself, so a clone, a push and the API see the same branches.
//
// Pages and Git are at the root, the API is below /api/v1/. A request that it has no
// route for, a parameter or a field that Gitea does not know, fails the test. What
// it answers follows Gitea's sources of the versions 1.22 to 1.26, which Forgejo
// shares.
//
// Support code for tests: it needs the program git.
package giteatest
