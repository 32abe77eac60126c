// Package enginetest holds what the engine's tests stand on: a repository, a
// registry and a forge in memory. They keep the promises of real ones, also the
// unpleasant: pushes and merges are conditional, answers can be lost, and people
// act at any time.
package enginetest
