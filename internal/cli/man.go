package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"promoter/internal/cli/console"
	"promoter/internal/cli/render"
)

func newMan(system console.System) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write manual pages",
		Long: `man writes a manual page for each command into a folder: promoter.1, promoter-plan.1, and so on.
It creates the folder and overwrites the pages in it.

Exit codes: 0 success; 1 the pages cannot be written.`,
		Example: `  promoter man /usr/local/share/man/man1
  promoter man man1 && man man1/promoter-plan.1`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			folder := args[0]
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return fmt.Errorf("write the manual pages: %w", err)
			}
			commands := allCommands(command.Root())
			for _, one := range commands {
				name := filepath.Join(folder, manName(one)+".1")
				if err := os.WriteFile(name, []byte(manPage(one)), 0o644); err != nil { //nolint:gosec // every user may read it
					return fmt.Errorf("write the manual pages: %w", err)
				}
			}
			render.PrintMessage(system.Err, "wrote %s to %s", render.Count(len(commands), "manual page", "manual pages"), folder)
			return nil
		},
	}
}

// allCommands returns a command and the commands below it, without help.
func allCommands(command *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{command}
	for _, below := range command.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			all = append(all, allCommands(below)...)
		}
	}
	return all
}

// longHelp splits the long help of a command into paragraphs, each on one line unless it is
// a block of commands, and the meanings of the exit codes.
func longHelp(command *cobra.Command) (paragraphs, exitCodes []string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(command.Long), "\n\n") {
		codes, found := strings.CutPrefix(paragraph, "Exit codes: ")
		switch {
		case found:
			for part := range strings.SplitSeq(strings.TrimSuffix(joinLines(codes), "."), "; ") {
				exitCodes = append(exitCodes, part)
			}
		case isBlock(paragraph):
			paragraphs = append(paragraphs, paragraph)
		default:
			paragraphs = append(paragraphs, strings.TrimLeft(joinLines(paragraph), "# "))
		}
	}
	return paragraphs, exitCodes
}

func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// isBlock reports whether a paragraph shows commands.
func isBlock(paragraph string) bool { return strings.HasPrefix(paragraph, "\t") }

func manName(command *cobra.Command) string {
	return strings.ReplaceAll(command.CommandPath(), " ", "-")
}

// manPage returns the manual page of a command. The help has no markup, so it needs only
// the escapes of roff.
func manPage(command *cobra.Command) string {
	var b strings.Builder
	line := func(format string, args ...string) {
		escaped := make([]any, len(args))
		for i, arg := range args {
			escaped[i] = roff(arg)
		}
		fmt.Fprintf(&b, format+"\n", escaped...)
	}
	block := func(text string) { line(".PP\n.RS 4\n.nf\n%s\n.fi\n.RE", dedent(text)) }
	paragraphs, exitCodes := longHelp(command)
	line(`.TH "%s" "1" "" "promoter %s" "promoter manual"`, strings.ToUpper(manName(command)), versionOf(released).Version)
	line(".SH NAME\n%s \\- %s", manName(command), command.Short)
	line(".SH SYNOPSIS\n%s", command.UseLine())
	line(".SH DESCRIPTION")
	for _, paragraph := range paragraphs {
		if isBlock(paragraph) {
			block(paragraph)
		} else {
			line(".PP\n%s", paragraph)
		}
	}
	if below := allCommands(command)[1:]; len(below) > 0 {
		line(".SH COMMANDS")
		for _, one := range below {
			line(".TP\n.B %s\n%s", one.CommandPath(), one.Short)
		}
	}
	line(".SH OPTIONS")
	for flag := range visibleFlags(command) {
		name, usage := flagForm(flag)
		line(".TP\n.B %s\n%s", name, usage)
	}
	if command.HasExample() {
		line(".SH EXAMPLES")
		block(command.Example)
	}
	if len(exitCodes) > 0 {
		line(".SH EXIT STATUS")
		for _, code := range exitCodes {
			number, meaning, _ := strings.Cut(code, " ")
			line(".TP\n.B %s\n%s", number, meaning)
		}
	}
	if command.HasParent() {
		line(".SH SEE ALSO\n%s(1)", manName(command.Parent()))
	}
	return b.String()
}

// visibleFlags calls yield for each flag of a command but --help.
func visibleFlags(command *cobra.Command) func(yield func(*pflag.Flag) bool) {
	return func(yield func(*pflag.Flag) bool) {
		done := false
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !done && !flag.Hidden && flag.Name != "help" {
				done = !yield(flag)
			}
		})
	}
}

// flagForm returns how a flag is written, as in "-o, --output FORMAT", and its usage with
// the default.
func flagForm(flag *pflag.Flag) (form, usage string) {
	value, usage := pflag.UnquoteUsage(flag)
	form = strings.TrimSpace("--" + flag.Name + " " + value)
	if flag.Shorthand != "" {
		form = "-" + flag.Shorthand + ", " + form
	}
	switch flag.DefValue {
	case "", "[]", "false", "0":
	default:
		usage += " (default: " + flag.DefValue + ")"
	}
	return form, usage
}

// dedent removes the indentation of a block.
func dedent(text string) string {
	return regexp.MustCompile(`(?m)^(?:  |\t)`).ReplaceAllString(strings.Trim(text, "\n"), "")
}

// roff escapes a text for a manual page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\[u2026]`).Replace(text)
	return regexp.MustCompile(`(?m)^([.'])`).ReplaceAllString(text, `\&$1`)
}
