// Package engine runs one pass over one repository: it observes, asks
// promotion.Plan what is wanted, and carries that out.
//
// A pass is level-triggered. It reads everything that a decision rests on anew:
// files and trailers from Git, people's decisions from promoter/_state, versions
// from registries, pull requests from the forge. So whatever was lost, doubled or
// interrupted before, the next pass leads to the same end; a second pass in a row
// writes nothing. Every effect is conditional on what was observed: a push on the
// old commit, a merge on the head. Who loses a race begins again.
//
// The package knows no adapter. It speaks to Git, files, registries and the forge
// through the small interfaces of seams.go; internal/app fills them, and the model
// test fills them with fakes that behave badly.
package engine
