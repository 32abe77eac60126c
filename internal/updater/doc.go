// Package updater finds the references to followed artifacts in the files of a
// branch and rewrites them, changing only the bytes of the value.
//
// It never serializes YAML. It parses a file, finds the byte span of each
// scalar that sets the running version, replaces those spans, parses the
// result, and proves that the two streams have the same documents and nodes
// except for the intended scalars. It refuses any change that it cannot prove,
// with file, line and reason. docs/writing.md lists the supported shapes and
// the refusals.
//
// Each shape has its own file. The table in shapes.go lists them all.
package updater
