package state

import "iter"

// Read reads the files of the branch. A file that cannot be read is a Problem of
// its place, see Held. A file of a newer schema is an Invalid fault, because what
// it says might forbid anything: promoter has to be upgraded first.
func Read(files iter.Seq2[string, []byte]) (State, error) {
	panic("not written yet")
}

// Diff returns the files to write so that a branch that holds before holds s; nil
// content deletes a file.
func (s State) Diff(before State) map[string][]byte {
	panic("not written yet")
}
