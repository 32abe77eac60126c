// Package scm defines the interfaces of a forge: what promoter needs from GitHub,
// GitLab, Gitea or plain Git, in terms common to all of them.
//
// A forge declares in Features what it supports. A missing feature has a documented
// result and is never an error that looks like a failure: see each method. The suite
// in scmtest tests every implementation against this documentation.
//
// Errors are faults: Unauthorized with the forge's message and no retry, NotFound for
// what does not exist, Conflict for a head that moved or a duplicate pull request,
// RateLimited with the time of the next attempt, Temporary for everything that may
// succeed later.
package scm
