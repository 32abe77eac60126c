// Package updater finds the references to followed artifacts in the files of a
// branch and rewrites them, changing only the bytes of the value.
//
// It never serializes YAML. It parses a file, finds the byte span of each scalar
// that says which version runs, replaces those spans, parses the result and
// proves that the two streams have the same documents and the same nodes but for
// the wanted scalars. What it cannot prove it refuses, with file, line and
// reason. docs/writing.md lists the shapes that it knows and what it refuses.
//
// One shape stands in one file, and the table in shapes.go names them all.
package updater
