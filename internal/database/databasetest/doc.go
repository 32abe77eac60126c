// Package databasetest gives tests a database of either kind: an SQLite file in a
// temporary folder, and a database of its own on a PostgreSQL server that the test
// binary starts for itself.
//
// A package that wants PostgreSQL has
//
//	func TestMain(m *testing.M) { databasetest.Main(m) }
//
// The server's programs are found in the folder that PROMOTER_POSTGRESQL names, on
// PATH, or where Debian puts them. Without them tests on PostgreSQL are skipped.
package databasetest
