// Package state is what the branch promoter/_state of a GitOps repository holds:
// what people decided about promotions, and the few facts that no file can tell.
//
// It is an orphan branch with one small JSON file per place, an environment with
// an application, so that two writers meet only when they decide about the same
// place. The package reads, changes and writes these files as values; the branch
// itself is pushed by whoever holds the repository. docs/formats.md describes the
// schema, which must not change but by a new version.
//
// Nothing in it is a right: whoever may push the branch may hold and ask, and
// nobody passes a gate by it.
package state
