// Package app is the composition root: it turns options into wired parts and
// runs them. It wires the work in a person's checkout, plan and apply, and the
// work on repositories: the lanes of a run, and what people decide straight on a
// repository. It is the only place where the core meets its adapters.
package app
