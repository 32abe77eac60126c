package cli

// The words of promoter history.
const (
	wordHistoryShort = "Show what was promoted, when, by whom and why"
	wordHistoryLong  = `history shows what promoter did and saw, the newest first: pull requests opened, refreshed,
closed and merged, what landed by whoever, and what people decided. Times are UTC.

It asks the running service as 'promoter status' does. Where there is no server's file,
or with --direct, it reads the repositories themselves instead: what landed, from the
trailers on the environments' branches, and the decisions that still stand; as far back
as --since, 30 days if it is not given.

Exit codes: 0 done; 1 the service did not answer, or a repository could not be read.`
	wordHistoryExample = `  promoter history --repo acme/gitops --env prod --since 7d
  promoter history --component web -o json
  promoter history --direct --repo https://github.com/acme/gitops --since 90d`
	wordHistoryMore = "there is more: add --after %s"
	wordHistoryNone = "nothing is known that fits"

	flagHistoryEnv       = "only this environment"
	flagHistoryApp       = "only this application"
	flagHistoryComponent = "only what has a version of this component"
	flagSince            = "only since then: how long ago, as in 7d, or a time, as in 2026-01-31T00:00:00Z"
	flagLimit            = "how many events at most, up to 1000"
	flagAfter            = "show the page after that one: what the last line of the page before said"
	flagDirect           = "read the repositories rather than ask the service"
	flagCA               = "trust the authorities of this PEM file for https, besides those of the system"
)
