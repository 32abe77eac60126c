// Package promotion is the core of promoter: what a snapshot is, how
// environments follow each other, what must hold before a promotion, and what
// to do next about it.
//
// Plan is pure: it reads observed values and the time, does no input or output,
// and gives the same decisions to the plan command, the scheduled job, the
// server, the simulation and the pages. The package knows no adapter: no forge,
// no registry client, no file format.
package promotion
