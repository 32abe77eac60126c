// Package errors stands for the errors of a cluster.
package errors

// IsNotFound reports whether an error is the answer of a cluster that has no such object. No cluster answers.
func IsNotFound(error) bool { return false }
