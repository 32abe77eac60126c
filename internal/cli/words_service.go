package cli

// The words of the verbs that ask a service that runs.
const (
	wordStatusShort = "Show what the running service works on"
	wordStatusLong  = `status asks the running service: each repository with its last look, why that failed,
whether it waits, runs or is tried again, and the webhooks of late.

It reads the server's file of the service and asks where that listens on this machine,
or at --url. The service answers when its file has an 'api.token'.

Exit codes: 0 it answered, whatever it said; 1 it did not.`
	wordStatusExample = `  promoter status
  promoter status --url https://promoter.example.com -o json`

	wordReplayShort = "Play a webhook again"
	wordReplayLong  = `replay has the running service take a delivery once more that it keeps, as if its sender
had sent it again: what it hints at is read anew, and the repositories that follow it are
looked at. The id of a delivery stands in the log, in 'promoter status', and at its sender.

With --file the payload of a file is read as the receiver would, and what it hints at is
shown. Nothing is sent then, and no service is asked.

Exit codes: 0 done; 1 it is not there, cannot be read, or the service did not answer.`
	wordReplayExample = `  promoter replay 72d3162e-cc78-11e3-81ab-4c9367dc0958 --dry-run
  promoter replay --file push.json --receiver github --header 'X-GitHub-Event: push'`

	wordDoctorShort = "Check all that the server's file names"
	wordDoctorLong  = `doctor asks what serve would ask, and changes nothing: whether secrets are there,
receivers have their credentials, the database can be used, each repository opens, may be
pushed to and has a valid config, the forge's rules let promoter/_state be pushed,
registries answer, clocks agree, and how many requests forges still allow.

One line for each check: ok, warn or fail, and what to do.

Exit codes: 0 nothing failed (there may be warnings); 1 something did.`
	wordDoctorExample = `  promoter doctor --config promoter-server.yaml
  promoter doctor -o json`

	flagRunningURL = "where the service answers; default: where the server's file says that it listens, on this machine"
	flagReceiver   = "the receiver of the server's file that took it, or with --file would take it"
	flagPayload    = "read the payload of this file rather than play a delivery"
	flagHeader     = "with --file, a header that came with it, NAME: VALUE (repeatable)"
	flagReplayDry  = "only show what it means"
	flagPprof      = "show profiles of the process at this address, 127.0.0.1:PORT; default: nowhere"
	flagPprofOpen  = "let --pprof be an address that others reach; profiles show what is in memory"
)
