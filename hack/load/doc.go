// Package load puts load on the built program, as a registry that pushes by the
// thousand and a server with a thousand repositories do. It is bounded: each part
// ends by itself after seconds or a few minutes. All of it is benchmarks on
// loopback, which `make load` and `make fleet` run; docs/performance.md has the figures
// and their limits.
package load
