// Package gitlabtest is a GitLab for tests: a server on loopback that keeps state,
// refuses what it does not know, and does the unpleasant things that the real one
// does. Its projects are real bare Git repositories, served over smart HTTP by git
// itself, so a clone, a push and the API see the same branches.
//
// It stands below a path of its server, as a self-managed GitLab may. A request
// that it has no route for, or with a parameter that the route has not, fails the
// test. Its behavior follows GitLab's own code and documents:
// https://gitlab.com/gitlab-org/gitlab
//
// Support code for tests: it needs the program git.
package gitlabtest
