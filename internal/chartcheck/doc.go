// Package chartcheck holds the Helm chart: what it renders for the value files in
// charts/promoter/ci, which combinations of values it refuses, that promoter can read
// the file that it makes. It has nothing to run but its tests.
package chartcheck
