// Package gitlabtest is a GitLab for tests: a server on loopback that keeps state,
// rejects unknown requests, and reproduces the pitfalls of the real one. Its projects
// are real bare Git repositories, served over smart HTTP by git itself, so a clone, a
// push and the API see the same branches.
//
// It can be served below a path, like a self-managed GitLab. A request without a
// route, or with a parameter that the route does not have, fails the test. Its
// behavior follows GitLab's own code and documentation:
// https://gitlab.com/gitlab-org/gitlab
//
// It is for tests only and requires the program git.
package gitlabtest
