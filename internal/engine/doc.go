// Package engine reconciles one repository: it observes, plans, and acts.
//
// A reconciliation is level-triggered. It reads everything that a decision depends
// on again: files and trailers from Git, user decisions from promoter/_state,
// versions from registries, pull requests from the forge. Whatever was lost,
// duplicated or interrupted before, the next reconciliation reaches the same
// result, and a second one in a row writes nothing. Every effect is conditional on
// what was observed: a push on the old commit, a merge on the head. A conflict
// restarts the reconciliation.
//
// The three phases pass values. Reconciler.observe calls one reader after the other
// and returns an Observation; makePlan turns it into a Plan without I/O; act carries
// out the Plan on a copy of the Observation and returns a Report. reconcile.go shows
// the whole story.
//
// The package knows no adapter. It uses Git, files, registries and the forge through
// the small interfaces of interfaces.go, which internal/app implements, and the model
// test replaces with fakes that fail.
package engine
