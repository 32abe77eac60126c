package updater

import "math/bits"

// shapes are all forms in which references are found without configuration.
// docs/writing.md has a line for each. Of scalar shapes the first that owns a
// scalar wins.
var shapes = []shape{
	{name: shapeKustomize, keys: []string{"images"}, mapping: findKustomizeImages},
	{name: shapeReference, scalar: findReference},
}

// shapesByKey says which of the shapes look at a mapping.
var shapesByKey = newShapeIndex(shapes)

func lowestBit(set uint64) int { return bits.TrailingZeros64(set) }
