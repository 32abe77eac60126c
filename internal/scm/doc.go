// Package scm holds the seams of a forge: what promoter asks of GitHub, GitLab,
// Gitea or plain Git, in words that all of them share.
//
// A forge says with Features what it cannot. A missing feature has a documented
// result and is never an error that looks like a failure: see each method. The
// suite in scmtest holds every implementation to these sentences.
//
// Errors are faults: Unauthorized with the forge's words and no retry, NotFound
// for what is gone, Conflict for a head that moved or a second pull request,
// RateLimited with the time of the next try, Temporary for all that may pass.
package scm
