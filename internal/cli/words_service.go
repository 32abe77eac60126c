package cli

// The words of the verbs that ask a service that runs.
const (
	wordStatusShort = "Show the state of the running service"
	wordStatusLong  = `status queries the running service: each repository with its last reconciliation, its error, and
whether it waits, runs, or is retried, and the latest deliveries.

It reads the service's server file to find the address on this machine, or uses --url. The
service answers if its server file sets 'api.token'.

Exit codes: 0 the service answered; 1 it did not.`
	wordStatusExample = `  promoter status
  promoter status --url https://promoter.example.com -o json`

	wordReplayShort = "Process a stored or saved delivery again"
	wordReplayLong  = `replay makes the running service process a stored delivery again, as if the sender had sent it
again: promoter reads what it reports again and reconciles the repositories that follow it. The
ID of a delivery is in the log, in 'promoter status', and at its sender.

With --file, replay decodes the payload in a file as the receiver would and shows the events. It
sends nothing and needs no service.

Exit codes: 0 success; 1 the delivery does not exist or cannot be read, or the service did not
answer.`
	wordReplayExample = `  promoter replay 72d3162e-cc78-11e3-81ab-4c9367dc0958 --dry-run
  promoter replay --file push.json --receiver github --header 'X-GitHub-Event: push'`

	wordDoctorShort = "Check everything that the server file names"
	wordDoctorLong  = `doctor makes the requests that serve would make, and changes nothing. It checks that secrets exist,
receivers have credentials, the database works, each repository opens, accepts pushes, and has
a valid config, the forge's rules allow pushes to promoter/_state, registries respond, clocks
agree, and how many requests the forges still allow.

It prints one line per check: ok, warn, or fail, and how to fix it.

Exit codes: 0 nothing failed (there may be warnings); 1 a check failed.`
	wordDoctorExample = `  promoter doctor --config promoter-server.yaml
  promoter doctor -o json`

	flagRunningURL = "address of the service (default: the address in the server file, on this machine)"
	flagReceiver   = "receiver of the server file that accepted the delivery, or with --file would accept it"
	flagPayload    = "decode the payload in this file instead"
	flagHeader     = "with --file, a request header, NAME: VALUE (repeatable)"
	flagReplayDry  = "only show the events"
	flagPprof      = "serve profiles of the process at this address, 127.0.0.1:PORT (default: none)"
	flagPprofOpen  = "allow --pprof to be an address that other machines reach; profiles show memory contents"
)
