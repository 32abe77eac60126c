// Package floors keeps the staircase of packages true.
//
// Every package stands on a floor and imports only packages of lower floors;
// packages of one floor never meet. A third-party module belongs to the
// packages that the table names, so that its types stop at their door.
// The package has nothing to run: its tests read every Go file of the module
// and compare the imports with the table in table_test.go.
package layers
