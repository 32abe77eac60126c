// Package gitea implements scm for Gitea, and for Forgejo, which is a fork with the
// same API: pull requests, statuses, reviews and comments with one token, over an
// HTTP client that the caller provides.
//
// The client library has no context per call and requests the server's version first.
// Therefore a client is created for each call, which sends nothing by itself, and
// differences between versions are detected from responses.
//
// An opened repository lives for one reconciliation: its cached labels, permissions
// and statuses are never older. The Forge caches how closed pull requests ended as
// long as their list does not change.
package gitea
