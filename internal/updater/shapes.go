package updater

// knownShapes returns all shapes that are found without configuration.
// docs/writing.md has a line for each. The first scalar shape that claims a
// scalar wins. This is a function rather than a variable because a shape may
// walk with all of them recursively.
func knownShapes() []shape {
	return []shape{
		{name: shapeKustomize, keys: []string{"images"}, mapping: findKustomizeImages},
		{name: shapeRemote, keys: []string{"images"}, mapping: findRemotes},
		{name: shapeHelmRelease, keys: []string{"apiVersion"}, mapping: findHelmRelease},
		{name: shapeOCIRepository, keys: []string{"apiVersion"}, mapping: findOCIRepository},
		{name: shapeHelmRepository, keys: []string{"apiVersion"}, mapping: findHelmRepository, literals: []string{kindHelmRepository}},
		{name: shapeArgoSource, keys: []string{"targetRevision"}, mapping: findArgoSource},
		{name: shapeArgoParameters, keys: []string{"parameters"}, mapping: findArgoParameters},
		{name: shapeChartDependency, keys: []string{"version"}, mapping: findChartDependencies},
		{name: shapeHelmValues, keys: helmValuesKeys, mapping: findHelmValues},
		{name: shapeReference, scalar: findReference},
		{name: shapeNested, scalar: findNested},
	}
}
