package cli

// The words of promoter history.
const (
	wordHistoryShort = "Show what was promoted, when, by which user, and why"
	wordHistoryLong  = `history shows what promoter did and observed, newest first: pull requests opened, refreshed,
closed, and merged, what landed, and user decisions. Times are UTC.

It queries the running service as 'promoter status' does. Without a server file, or with
--direct, it reads the repositories: what landed, from the commit trailers on the environments'
branches, and the decisions that are still in effect; back to --since, by default 30 days.

Exit codes: 0 success; 1 the service did not answer, or a repository could not be read.`
	wordHistoryExample = `  promoter history --repo acme/gitops --env prod --since 7d
  promoter history --component web -o json
  promoter history --direct --repo https://github.com/acme/gitops --since 90d`
	wordHistoryMore = "there is more: add --after %s"
	wordHistoryNone = "no events match"

	flagHistoryEnv       = "only this environment"
	flagHistoryApp       = "only this application"
	flagHistoryComponent = "only events with a version of this component"
	flagSince            = "only events since then: a duration, as in 7d, or a time, as in 2026-01-31T00:00:00Z"
	flagLimit            = "maximum number of events, up to 1000"
	flagAfter            = "show the next page: the value that the last line of the page before printed"
	flagDirect           = "read the repositories instead of querying the service"
	flagCA               = "trust the certificate authorities in this PEM file for https, in addition to the system's"
)
