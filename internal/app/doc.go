// Package app is the composition root: it wires the packages below to the functions that
// commands call. Serve is the running service, Run and Explain work once on all
// repositories of a server file, and HistoryFromGit reads their history. The work itself
// is in the packages service, workspace, and reconcile.
package app
