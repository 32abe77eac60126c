// Package gitopsengine calls the APIs of GitOps engines: it lists, refreshes, and syncs the
// Applications of an Argo CD server, and posts to the Receivers of Flux.
//
// It does not decide which objects of an engine a repository may use, and when to retry.
package gitopsengine
