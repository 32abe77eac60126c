// Package chartcheck tests what installs promoter. It renders the Helm chart with the value
// files in charts/promoter/ci, and checks which combinations of values it rejects, and that
// promoter can read the generated file; it builds the kustomize bases, which are rendered
// from the chart. It contains only tests.
package chartcheck
