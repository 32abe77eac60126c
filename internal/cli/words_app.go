package cli

import (
	"io"

	"promoter/internal/app"
)

// The words of the verbs about GitHub Apps.
const (
	wordAppShort = "Set a GitHub App up"
	wordAppLong  = `app is about the GitHub App that promoter works as.`

	wordCreateShort = "Make a GitHub App with one click in a browser"
	wordCreateLong  = `create has GitHub make an App with exactly the permissions and events that promoter needs.
It prints an address of this machine: open it in a browser that is signed in to GitHub,
press the button, and confirm on GitHub's page. Then the App's private key and secrets
lie in the folder of --out, which only you may read, and the lines for the server's file
stand on standard output.

GitHub shows the key once. So the folder is tried before, and a file that is there is
never written over. With --url the App posts webhooks to /webhooks/NAME of promoter
serve; without, it has none. The address works once, and for an hour.

Exit codes: 0 the App is there; 1 it is not, or its key could not be kept; 130 interrupted.`
	wordCreateExample = `  promoter app create --org acme --url https://promoter.example.com
  promoter app create --github https://github.example.com --network 10.0.0.0/8`

	flagCreateConfig  = "a server's file with the forge, its url and networks; default: none is read"
	flagCreateForge   = "the name of the forge in the server's file, and of the receiver"
	flagCreateGitHub  = "the address of the GitHub (default: that of the forge in the file, or https://github.com)"
	flagCreateOrg     = "the organization that the App belongs to; default: your own account"
	flagCreateName    = "the name of the App, up to 34 characters; GitHub's page lets you change it"
	flagCreateURL     = "where GitHub reaches promoter serve; default: url of the file, or the App has no webhook"
	flagCreateOut     = "the folder for the credentials"
	flagCreatePublic  = "let other accounts install the App too"
	flagCreateWith    = "ask for a permission that few need: administration, workflows (repeatable)"
	flagCreateNetwork = "a private network, as CIDR, in which the GitHub may lie (repeatable)"

	wordCreateAgain   = "%v: load the page in the browser again"
	wordCreateStopped = "no credentials were written; if GitHub shows an App already, delete it there"
)

// sayOpen says where the person goes.
func sayOpen(w io.Writer, address string) {
	say(w, "open this address in a browser that is signed in to GitHub; Ctrl-C to leave it")
	sayMore(w, "  %s", address)
}

// sayCreated says what is there and what comes next.
func sayCreated(w io.Writer, c app.CreatedApp) {
	say(w, "%s was made; its credentials are in %s, which only you may read", c.App.Slug, c.Folder)
	sayMore(w, "  1. install it: %s", c.App.Install)
	sayMore(w, "  2. put the lines above into the server's file")
	if c.App.Hook != "" {
		sayMore(w, "  3. let GitHub reach %s", c.App.Hook)
	}
}
