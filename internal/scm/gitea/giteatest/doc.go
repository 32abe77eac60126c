// Package giteatest is a Gitea for tests: a server on loopback that keeps state,
// rejects unknown requests, and reproduces the pitfalls of the real one. Its
// repositories are real bare Git repositories, served over smart HTTP by git itself,
// so a clone, a push and the API see the same branches.
//
// Pages and Git are at the root, the API is below /api/v1/. A request without a
// route, or with a parameter or field that Gitea does not know, fails the test.
// Responses follow the sources of Gitea 1.22 to 1.26, which Forgejo shares.
//
// It is for tests only and requires the program git.
package giteatest
