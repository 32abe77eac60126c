// Package chartcheck tests what installs promoter. It renders the Helm chart with the value
// files in charts/promoter/ci, and checks which combinations of values it rejects, and that
// promoter can read the generated file; it builds the kustomize bases, which are rendered
// from the chart. It generates the schema and the README of the chart from values.yaml. It
// contains only tests.
package chartcheck

//go:generate go test . -run ^(TestValues_schemaAndReadmeAreCurrent|TestFiles_areCopies|TestRendered|TestKustomize_basesAreTheChart)$ -update
