// Package github is the forge GitHub, github.com or a GitHub Enterprise server,
// behind the seams of package scm.
//
// It asks no more than a careful person would: every list is read with the
// largest pages, every answer is kept with its ETag, so that asking again costs
// no rate limit as long as nothing changed, and writes keep a distance. After
// GitHub asked for a pause no request is sent until it is over.
//
// The credential is sent to the API's host and to no other, and never appears in
// an error. Errors carry GitHub's words on one line.
package github
