package cli

const (
	wordServeShort = "Run as a service: receive webhooks, poll, and reconcile"
	wordServeLong  = `serve does continuously what run does once. Webhooks from registries and forges trigger
reconciliations; promoter verifies what they report and never trusts a payload. Without any
webhook, serve polls, every five minutes by default ('poll').

Events are stored in a database before the sender gets a response: SQLite in the data folder, or
PostgreSQL ('database') if several replicas share the work. If the database is lost, only the
history is lost: everything else is read again from Git, the registries, and the forges.

serve needs a server file. Webhooks arrive at /webhooks/NAME; /healthz reports that the process
responds, /readyz that it can work. On SIGTERM or Ctrl-C, serve finishes the work in progress.

Exit codes: 0 stopped; 1 it could not start or could not continue.`
	wordServeExample = `  promoter serve --config promoter-server.yaml
  promoter serve --dry-run --log text`

	flagQuiet    = "debounce: how long to wait after a webhook before reconciling a repository"
	flagLog      = "log format: json or text"
	flagLogLevel = "log level: debug, info, warn, or error"
)
