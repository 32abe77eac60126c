// Package rest stands for the clients of a cluster, of which promoter has none.
package rest

import "errors"

// Config is that of a client.
type Config struct{}

// ErrNoCluster is the error of every request.
var ErrNoCluster = errors.New("there is no cluster")
