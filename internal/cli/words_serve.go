package cli

const (
	wordServeShort = "Take webhooks, poll, and work on repositories until it is stopped"
	wordServeLong  = `serve does all the time what run does once. Webhooks of registries and forges tell it
that something may have changed; what they say is looked up and never believed. Without
any webhook it looks at everything by itself, every five minutes ('poll').

What it was told lies in a database before the sender gets an answer: SQLite in the
data folder, or PostgreSQL ('database') when several replicas share the work. Losing the
database costs nothing but its history: everything else is read from Git, the registries
and the forges again.

It wants a server's file. Webhooks come to /webhooks/NAME; /healthz says that the process
answers and /readyz that it can work. SIGTERM or Ctrl-C lets what is under way end.

Exit codes: 0 stopped; 1 it could not start, or could not go on.`
	wordServeExample = `  promoter serve --config promoter-server.yaml
  promoter serve --dry-run --log text`

	flagQuiet    = "how long a repository is left alone after a webhook, so that many of them make one look"
	flagLog      = "how the log is written: json or text"
	flagLogLevel = "what is written to the log: debug, info, warn or error"
)
