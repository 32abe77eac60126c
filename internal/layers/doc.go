// Package layers checks the import rules between packages.
//
// Every package belongs to a layer and imports only packages of lower layers;
// packages of one layer must not import each other. A third-party module may be
// imported only by the packages that the table names, so that its types do not
// spread. The package contains only tests, which read every Go file of the
// module and compare the imports with the table in table_test.go.
package layers
