// Package keycheck has the test that each key of both config files is read.
package keycheck
