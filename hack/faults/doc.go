// Package faults runs promoter as a service while what it depends on fails: forges, Git
// servers, and registries, each in many ways, its files, and its database. Webhooks arrive
// meanwhile, and other repositories must be promoted. It also kills the service at random
// requests. When a fault is over, everything must be settled within a minute, merges among it,
// with one commit for each release and one pull request.
//
// All of it is benchmarks on loopback, which `make faults` runs. They report the seconds from
// the end of each fault until everything that it delayed was done.
package faults
