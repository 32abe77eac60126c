// Package app is the composition root: it turns options into wired parts and
// runs them. What it wires today is the work in a person's checkout: plan and
// apply. It is the only place where the core meets its adapters.
package app
