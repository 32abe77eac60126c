package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
)

// These are set by release builds with -ldflags -X, and empty in a build from a clone, whose
// version is that of its commit.
//
//nolint:gochecknoglobals // the linker sets them; nothing writes them afterwards
var (
	released   string // the version
	releaseURL string // the folder with the files of the release, if it is known
)

// schemaURL returns the address of the JSON Schema of .promoter.yaml in the release of this
// binary. It is empty if there is none.
func schemaURL(release string) string {
	if release == "" {
		return ""
	}
	return strings.TrimSuffix(release, "/") + "/promoter.schema.json"
}

func newVersion(system console.System) *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Long:  "version prints the version, and with -o json also the revision, Go version, and platform.",
		Args:  flag.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			v := versionOf(released)
			return render.PrintAs(system.Out, output, v, func() string { return "promoter " + v.text() + "\n" })
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "text", flag.OutputUsage)
	return command
}

type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the clone had uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v versionJSON) text() string {
	text := fmt.Sprintf("%s (%s, %s", v.Version, v.Go, v.Platform)
	if v.Revision != "" {
		text += ", revision " + v.Revision
	}
	return text + ")"
}

// versionOf reads what the Go toolchain stamped into the binary.
func versionOf(release string) versionJSON {
	v := versionJSON{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if v.Version == "" {
		v.Version = "dev"
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Revision = setting.Value
		case "vcs.modified":
			v.Modified = setting.Value == "true"
		}
	}
	return v
}
