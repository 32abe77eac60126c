// Package cloud is what the logins of cloud registries have in common: where a
// process finds out who it is, whom it may ask, and how much of an answer it
// reads.
//
// It starts no program and reads no address from anybody but the operator: an
// endpoint that the environment names is plain http only where the machine itself
// answers.
package auth
