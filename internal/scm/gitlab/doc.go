// Package gitlab is the forge GitLab, gitlab.com or a self-managed server of any
// tier, behind the seams of package scm.
//
// A project is asked for by its path once, and by its id from then on: a rename
// changes nothing. What only higher tiers have is never needed; where it is absent
// the result is the documented one of the seams.
//
// An approval of GitLab's carries no commit. Here it gets the head of the version
// that was the latest when it was given, so that one from before the last push is
// told as such whatever the project does with its approvals on a push.
//
// The credential is sent to the API's host and to no other, and never appears in
// an error. Errors carry GitLab's words on one line.
package gitlab
