package promotion

import "promoter/internal/scm"

// StatusContext is the context of promoter's one commit status. It must not
// change: branch protection names it.
const StatusContext = "promoter"

// StatusOf returns the commit status of a pull request of ours.
func StatusOf(p Proposal) scm.Status { panic("not written yet") }

// StatusOfOthers returns the commit status of a pull request that is not ours: it
// says so, and whether the config of its head can be used.
func StatusOfOthers(config error) scm.Status { panic("not written yet") }
