// Package attack runs promoter as a service and attacks it on loopback, as a user could
// who may write to one repository, or who can only send requests. While each attack goes
// on, another repository must be promoted, the process must stay below a limit of memory,
// and it must exit soon after SIGTERM.
//
// All of it is one benchmark, which `make attack` runs after the tests of hack/attack/kinds.
// It reports how long a promotion of the victim took at most (s-victim), the peak memory,
// and how long the exit took. docs/operate/attacks.md has the figures.
package attack
