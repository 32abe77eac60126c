package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/githubapp"
)

func newApp(system System) *cobra.Command {
	command := &cobra.Command{Use: "app", Short: wordAppShort, Long: wordAppLong}
	command.AddCommand(newAppCreate(system))
	return command
}

func newAppCreate(system System) *cobra.Command {
	options := githubapp.Options{Env: system.Env, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	var output string
	command := &cobra.Command{
		Use:     "create",
		Short:   wordCreateShort,
		Long:    wordCreateLong,
		Example: wordCreateExample,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return runAppCreate(command, options, output, system)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Config, "config", "", flagCreateConfig)
	flags.StringVar(&options.Forge, "forge", "github", flagCreateForge)
	flags.StringVar(&options.GitHub, "github", "", flagCreateGitHub)
	flags.StringVar(&options.Organization, "org", "", flagCreateOrg)
	flags.StringVar(&options.Name, "name", "", flagCreateName)
	flags.StringVar(&options.URL, "url", "", flagCreateURL)
	flags.StringVar(&options.Folder, "out", githubapp.DefaultFolder, flagCreateOut)
	flags.BoolVar(&options.Public, "public", false, flagCreatePublic)
	flags.StringSliceVar(&options.With, "with", nil, flagCreateWith)
	flags.StringArrayVar(&options.Networks, "network", nil, flagCreateNetwork)
	flags.StringVarP(&output, "output", "o", "text", flagOutputPlain)
	return command
}

func runAppCreate(command *cobra.Command, options githubapp.Options, output string, system System) error {
	options.Opened = func(address string) { sayOpen(system.Err, address) }
	options.Failed = func(err error) { say(system.Err, wordCreateAgain, err) }
	created, err := githubapp.Create(command.Context(), options)
	if err != nil {
		if ctx := command.Context(); ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			say(system.Err, wordCreateStopped)
		}
		return err
	}
	if err := printAs(system.Out, output, createdToJSON(created), func() string { return createdText(created) }); err != nil {
		return err
	}
	sayCreated(system.Err, created)
	return nil
}

// createdSchema is the number of the JSON format, as planSchema is.
const createdSchema = 1

type createdJSON struct {
	Schema    int                            `json:"schema"`
	App       createdAppJSON                 `json:"app"`
	Files     createdFilesJSON               `json:"files"`
	Forges    map[string]createdForgeJSON    `json:"forges"`    // of the server's file
	Receivers map[string]createdReceiverJSON `json:"receivers"` // of the server's file
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
	out := createdJSON{
		Schema:    createdSchema,
		App:       createdAppJSON{c.App.ID, c.App.Slug, c.App.Owner, c.App.ClientID, c.App.Page, c.App.Install, c.App.Settings},
		Files:     createdFilesJSON{c.Key, c.ClientSecret, c.WebhookSecret},
		Forges:    map[string]createdForgeJSON{c.Forge: {Kind: "github", URL: c.URL, App: createdKeyRef{c.App.ID, "file:" + c.Key}}},
		Receivers: map[string]createdReceiverJSON{},
	}
	if c.WebhookSecret != "" {
		out.Receivers[c.Forge] = createdReceiverJSON{Kind: "github", Secret: "file:" + c.WebhookSecret}
	}
	return out
}

// createdText is what belongs into the server's file.
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
