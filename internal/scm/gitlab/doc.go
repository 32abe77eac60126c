// Package gitlab implements scm for GitLab: gitlab.com or a self-managed server of
// any tier.
//
// A project is looked up by its path once, and accessed by its ID from then on, so
// that a rename has no effect. Features of higher tiers are never required; without
// them, results are as package scm documents.
//
// GitLab's approvals have no commit. This package assigns the head of the version
// that was the latest when the approval was given, so that an approval from before
// the last push is recognized whether or not the project resets approvals on a push.
//
// The credential is sent only to the API's host and never appears in an error. Errors
// contain GitLab's message on one line.
package gitlab
