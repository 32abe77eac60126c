// Package fake is empty: only tests of Helm import it, and `go mod tidy` requires that it exists.
package fake
