// Package chartcheck tests the Helm chart: what it renders for the value files
// in charts/promoter/ci, which combinations of values it rejects, and that
// promoter can read the generated file. It contains only tests.
package chartcheck
