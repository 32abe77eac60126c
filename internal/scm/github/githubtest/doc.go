// Package githubtest is a GitHub for tests: a server on loopback that keeps state,
// rejects unknown requests, and reproduces the pitfalls of the real one. Its
// repositories are real bare Git repositories, served over smart HTTP by git itself,
// so a clone, a push and the API see the same branches.
//
// It has the layout of GitHub Enterprise: pages and Git at the root, the API below
// /api/v3/. A request without a route fails the test. Every request and response is
// validated against GitHub's OpenAPI description if available; see openapitest.
//
// It is for tests only and requires the program git.
package githubtest
