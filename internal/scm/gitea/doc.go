// Package gitea is the forge Gitea, and Forgejo, which grew out of it and speaks
// the same API: pull requests, statuses, reviews and comments with one token, over
// one HTTP client that the caller guards.
//
// The client library knows no context per call and asks the server's version
// first. So a client is made for each call, which sends nothing by itself, and what
// two versions do differently is told by their answers.
//
// An opened repository lives for one pass: what it remembers of labels,
// permissions and statuses is never older. What became of closed pull requests is
// remembered by the Forge, as long as the list of them did not change.
package gitea
