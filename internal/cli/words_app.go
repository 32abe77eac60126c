package cli

import (
	"io"

	"promoter/internal/githubapp"
)

// The words of the verbs about GitHub Apps.
const (
	wordAppShort = "Create and manage a GitHub App"
	wordAppLong  = "app manages the GitHub App that promoter works as."

	wordCreateShort = "Create a GitHub App with one click in a browser"
	wordCreateLong  = `create makes GitHub create an App with exactly the permissions and events that promoter needs.
It prints an address on this machine: open it in a browser that is signed in to GitHub, press the
button, and confirm on GitHub's page. create then stores the App's private key and secrets in the
folder of --out, readable only by you, and prints the lines for the server file.

GitHub shows the key once. create therefore checks the folder first and never overwrites a file.
With --url, the App sends webhooks to /webhooks/NAME of promoter serve; without it, the App has
no webhook. The address works once, for an hour.

Exit codes: 0 the App exists; 1 it does not, or its key could not be stored; 130 interrupted.`
	wordCreateExample = `  promoter app create --org acme --url https://promoter.example.com
  promoter app create --github https://github.example.com --network 10.0.0.0/8`

	flagCreateConfig  = "server file with the forge, its url, and networks (default: none)"
	flagCreateForge   = "name of the forge in the server file, and of the receiver"
	flagCreateGitHub  = "address of GitHub (default: the forge in the server file, or https://github.com)"
	flagCreateOrg     = "organization that owns the App (default: your own account)"
	flagCreateName    = "name of the App, at most 34 characters; you can change it on GitHub's page"
	flagCreateURL     = "address where GitHub reaches promoter serve (default: url of the server file, or no webhook)"
	flagCreateOut     = "folder for the credentials"
	flagCreatePublic  = "allow other accounts to install the App"
	flagCreateWith    = "request an additional permission: administration, workflows (repeatable)"
	flagCreateNetwork = "private network (CIDR) that may contain GitHub (repeatable)"

	wordCreateAgain   = "%v: load the page in the browser again"
	wordCreateStopped = "no credentials were written; if GitHub already shows an App, delete it there"
)

// sayOpen says where the person goes.
func sayOpen(w io.Writer, address string) {
	say(w, "open this address in a browser that is signed in to GitHub; Ctrl-C to leave it")
	sayMore(w, "  %s", address)
}

// sayCreated says what is there and what comes next.
func sayCreated(w io.Writer, c githubapp.Created) {
	say(w, "%s was made; its credentials are in %s, which only you may read", c.App.Slug, c.Folder)
	sayMore(w, "  1. install it: %s", c.App.Install)
	sayMore(w, "  2. put the lines above into the server's file")
	if c.App.Hook != "" {
		sayMore(w, "  3. let GitHub reach %s", c.App.Hook)
	}
}
