package forge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/githubapp"
)

// NewApp returns the command app.
func NewApp(system console.System) *cobra.Command {
	command := &cobra.Command{
		Use:   "app",
		Short: "Create a GitHub App",
		Long:  "app has the commands for the GitHub App that promoter works as.",
	}
	command.AddCommand(newAppCreate(system))
	return command
}

func newAppCreate(system console.System) *cobra.Command {
	options := githubapp.Options{Env: system.Env, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	var output string
	command := &cobra.Command{
		Use:   "create",
		Short: "Create a GitHub App with one click in a browser",
		Long: `create registers a GitHub App with exactly the permissions and events that promoter needs.
It prints an address on this machine: open it in a browser that is signed in to GitHub, press the
button, and confirm on GitHub's page. create then stores the App's private key and secrets in the
folder of --out, readable only by you, and prints the lines for the server file.

GitHub shows the key once. create therefore checks the folder first and never overwrites a file.
With --url, the App sends webhooks to /webhooks/NAME of promoter serve; without it, the App has
no webhook. The address works once, for an hour.

Exit codes: 0 the App exists; 1 it does not, or its key could not be stored; 130 interrupted.`,
		Example: `  promoter app create --org acme --url https://promoter.example.com
  promoter app create --github https://github.example.com --network 10.0.0.0/8`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := render.CheckOutput(output); err != nil {
				return err
			}
			return runAppCreate(command, options, output, system)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Config, "config", "", "server `FILE` with the forge, its url, and networks (default: none)")
	flags.StringVar(&options.Forge, "forge", "github", "`NAME` of the forge in the server file, and of the receiver")
	flags.StringVar(&options.GitHub, "github", "", "`URL` of GitHub (default: the forge in the server file, or https://github.com)")
	flags.StringVar(&options.Organization, "org", "", "`NAME` of the organization that owns the App (default: your own account)")
	flags.StringVar(&options.Name, "name", "", "`NAME` of the App, at most 34 characters; you can change it on GitHub's page")
	flags.StringVar(&options.URL, "url", "", "`URL` where GitHub reaches promoter serve (default: url of the server file, or no webhook)")
	flags.StringVar(&options.Folder, "out", githubapp.DefaultFolder, "`FOLDER` for the credentials")
	flags.BoolVar(&options.Public, "public", false, "allow other accounts to install the App")
	flags.StringSliceVar(&options.With, "with", nil,
		"additional `PERMISSION` to request: administration, checks, deployments, or workflows (repeatable)")
	flags.StringArrayVar(&options.Networks, "network", nil, "private network (`CIDR`) that may contain GitHub (repeatable)")
	flags.StringVarP(&output, "output", "o", "text", flag.OutputUsage)
	return command
}

func runAppCreate(command *cobra.Command, options githubapp.Options, output string, system console.System) error {
	options.Opened = func(address string) {
		render.PrintMessage(system.Err, "open this address in a browser that is signed in to GitHub; Ctrl-C to leave it")
		render.PrintDetail(system.Err, "  %s", address)
	}
	options.Failed = func(err error) { render.PrintMessage(system.Err, "%v: load the page in the browser again", err) }
	created, err := githubapp.Create(command.Context(), options)
	if err != nil {
		if ctx := command.Context(); ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			render.PrintMessage(system.Err, "no credentials were written; if GitHub already shows an App, delete it there")
		}
		return err
	}
	if err := render.PrintAs(system.Out, output, createdToJSON(created), func() string { return createdText(created) }); err != nil {
		return err
	}
	printCreated(system.Err, created)
	return nil
}

// printCreated prints what was created and the next steps.
func printCreated(w io.Writer, c githubapp.Created) {
	render.PrintMessage(w, "%s was made; its credentials are in %s, which only you may read", c.App.Slug, c.Folder)
	render.PrintDetail(w, "  1. install it: %s", c.App.Install)
	render.PrintDetail(w, "  2. put the lines above into the server file")
	if c.App.Hook != "" {
		render.PrintDetail(w, "  3. let GitHub reach %s", c.App.Hook)
	}
}

// createdSchema is the version of the JSON format, as planSchema is.
const createdSchema = 1

type createdJSON struct {
	Schema    int                            `json:"schema"`
	App       createdAppJSON                 `json:"app"`
	Files     createdFilesJSON               `json:"files"`
	Forges    map[string]createdForgeJSON    `json:"forges"`    // of the server file
	Receivers map[string]createdReceiverJSON `json:"receivers"` // of the server file
}

type createdAppJSON struct {
	ID       int64  `json:"id"`
	Slug     string `json:"slug"`
	Owner    string `json:"owner"`
	ClientID string `json:"clientId"`
	Page     string `json:"page"`
	Install  string `json:"install"`
	Settings string `json:"settings"`
}

type createdFilesJSON struct {
	PrivateKey    string `json:"privateKey"`
	ClientSecret  string `json:"clientSecret"`
	WebhookSecret string `json:"webhookSecret,omitempty"`
}

type createdForgeJSON struct {
	Kind string        `json:"kind"`
	URL  string        `json:"url,omitempty"`
	App  createdKeyRef `json:"app"`
}

type createdKeyRef struct {
	ID  int64  `json:"id"`
	Key string `json:"key"`
}

type createdReceiverJSON struct {
	Kind   string `json:"kind"`
	Secret string `json:"secret"`
}

func createdToJSON(c githubapp.Created) createdJSON {
	app := c.App
	forge := createdForgeJSON{Kind: "github", URL: c.URL, App: createdKeyRef{app.ID, "file:" + c.Key}}
	out := createdJSON{
		Schema:    createdSchema,
		App:       createdAppJSON{app.ID, app.Slug, app.Owner, app.ClientID, app.Page, app.Install, app.Settings},
		Files:     createdFilesJSON{c.Key, c.ClientSecret, c.WebhookSecret},
		Forges:    map[string]createdForgeJSON{c.Forge: forge},
		Receivers: map[string]createdReceiverJSON{},
	}
	if c.WebhookSecret != "" {
		out.Receivers[c.Forge] = createdReceiverJSON{Kind: "github", Secret: "file:" + c.WebhookSecret}
	}
	return out
}

// createdText returns the lines for the server file.
func createdText(c githubapp.Created) string {
	var b strings.Builder
	address := ""
	if c.URL != "" {
		address = fmt.Sprintf("url: %q, ", c.URL)
	}
	fmt.Fprintf(&b, "forges:\n  %s: {kind: github, %sapp: {id: %d, key: %q}}\n", c.Forge, address, c.App.ID, "file:"+c.Key)
	if c.WebhookSecret != "" {
		fmt.Fprintf(&b, "receivers:\n  %s: {kind: github, secret: %q}\n", c.Forge, "file:"+c.WebhookSecret)
	}
	return b.String()
}
