// Package config reads the two configuration files of promoter: .promoter.yaml,
// which lies in every GitOps repository, and promoter-server.yaml, which belongs
// to the person who runs the server.
//
// Loading is strict and tells everything at once: an unknown key, a wrong type,
// a name that nothing has, a pair of settings that cannot hold together. Each
// Problem has a place in the file and says what to do. A Config that was loaded
// without errors needs no further check by its readers: every pattern compiles,
// every name exists, and every combination of overrides was tried.
//
// The package does no input or output of its own. It never holds a secret: the
// server's file names places of secrets, and Reference.Resolve fetches one through
// functions that the caller hands in.
package config

//go:generate go test . -run ^TestSchema_isCurrent$ -update
