// Package github implements scm for GitHub: github.com or a GitHub Enterprise server.
//
// It minimizes requests: every list is read with the largest pages, every response is
// cached with its ETag, so that repeated requests do not count against the rate limit
// as long as nothing changed, and writes are paced. After GitHub requests a pause, no
// request is sent until it is over.
//
// The credential is sent only to the API's host and never appears in an error. Errors
// contain GitHub's message on one line.
package github
