// Package state reads and writes the promoter/_state branch of a GitOps
// repository: user decisions about promotions, and the few facts that cannot be
// derived from other files.
//
// It is an orphan branch with one small JSON file per target, an application in
// an environment, so that two writers conflict only on the same target. The
// package reads, changes and writes these files as values; the caller pushes
// the branch. docs/formats.md describes the schema, which must not change
// without a new version.
//
// The state grants no permissions: any user who can push the branch can hold a
// target or request a promotion, but no decision on the branch bypasses a gate.
package state
