package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
)

var update = flag.Bool("update", false, "rewrite docs/reference/cli.md")

// TestReference_isCurrent compares docs/reference/cli.md with the commands; -update
// writes it.
func TestReference_isCurrent(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/cli.md"
	want := cliReference(root(consoletest.New().System))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is out of date; go generate writes it (-want +got):\n%s", file, diff)
	}
}

// cliReference returns the page with the help of every command.
func cliReference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Reference: command line\n\n<!-- Generated from the commands in internal/cli by go generate. Do not edit. -->\n\n" +
		"The help of every command, as `promoter COMMAND --help` and `promoter man` print it. [Commands](../commands.md) explains\n" +
		"what they print, and [JSON output](json.md) the forms of `-o json`. Every command also has the flag `--help`. An interrupted\n" +
		"command exits with 130, or with 3 if its work does not end within 20 seconds.\n")
	for _, group := range root.Groups() {
		var links []string
		for _, command := range root.Commands() {
			if command.GroupID != group.ID || command.Name() == "help" {
				continue
			}
			name, anchor := command.Name(), command.Name()
			if verbs := command.Commands(); len(verbs) == 1 { // the only one
				name, anchor = name+" "+verbs[0].Name(), name+"-"+verbs[0].Name()
			}
			links = append(links, fmt.Sprintf("[`%s`](#promoter-%s)", name, anchor))
		}
		fmt.Fprintf(&b, "\n- %s %s", group.Title, strings.Join(links, ", "))
	}
	b.WriteString("\n")
	for _, command := range allCommands(root)[1:] {
		if !command.Runnable() || command.Parent().Name() == "completion" || command.HasSubCommands() && command.Name() != "completion" {
			continue
		}
		synopsis := command.UseLine()
		if command.Name() == "completion" {
			synopsis += " bash|fish|powershell|zsh"
		}
		fmt.Fprintf(&b, "\n## `%s`\n\n%s.\n\n```text\n%s\n```\n", command.CommandPath(), command.Short, synopsis)
		paragraphs, exitCodes := longHelp(command)
		for _, paragraph := range paragraphs {
			fmt.Fprintf(&b, "\n%s\n", asMarkdown(paragraph))
		}
		writeFlagTable(&b, command)
		if command.HasExample() {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", dedent(command.Example))
		}
		for i, code := range exitCodes {
			if i == 0 {
				b.WriteString("\nExit codes:\n\n")
			}
			number, meaning, _ := strings.Cut(code, " ")
			fmt.Fprintf(&b, "- `%s`: %s\n", number, asMarkdown(meaning))
		}
	}
	return b.String()
}

func writeFlagTable(b *strings.Builder, command *cobra.Command) {
	head := "\n| flag | meaning |\n|---|---|\n"
	for flag := range visibleFlags(command) {
		form, usage := flagForm(flag)
		fmt.Fprintf(b, "%s| `%s` | %s |\n", head, form, asMarkdown(usage))
		head = ""
	}
}

// asMarkdown shows flags, variables, placeholders, and files as code.
func asMarkdown(text string) string {
	code := regexp.MustCompile(`(^|[\s(])(?:'([^']+)'|(-[a-z] [a-z]+|--?[a-z][a-z-]*|\$?PROMOTER_[A-Z_]+|promoter-server\.yaml|\.promoter\.yaml|[A-Z]+\[[^ ,;]*\]|/[a-z]+[a-zA-Z/]*))`)
	return code.ReplaceAllString(text, "$1`$2$3`")
}

func TestMan_hasAPageForEachCommand(t *testing.T) {
	t.Parallel()
	c := consoletest.New()
	folder := filepath.Join(t.TempDir(), "man1")
	if code := c.Run(t.Context(), root, "man", folder); code != console.ExitDone {
		t.Fatalf("exit %d: %s", code, c.Err.String())
	}
	commands := allCommands(root(consoletest.New().System))
	pages, err := filepath.Glob(folder + "/*")
	if err != nil || len(pages) != len(commands) || len(pages) < 20 {
		t.Fatalf("%d pages of %d commands: %v", len(pages), len(commands), err)
	}
	for _, command := range commands {
		text, err := os.ReadFile(filepath.Join(folder, manName(command)+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(text)
		for _, section := range []string{`.TH "` + strings.ToUpper(strings.ReplaceAll(manName(command), "-", `\-`)) + `" "1" `, "\n.SH NAME\n", "\n.SH SYNOPSIS\n", "\n.SH DESCRIPTION\n", "\n.SH OPTIONS\n"} {
			if !strings.Contains(page, section) {
				t.Errorf("%s has no %q", manName(command), section)
			}
		}
		for line := range strings.Lines(page) {
			if regexp.MustCompile(`^[.'](?:TH|SH|PP|TP|B|RS|RE|nf|fi)\b`).MatchString(line) == regexp.MustCompile(`^[^.']`).MatchString(line) {
				t.Errorf("%s: a line is neither a known macro nor text: %s", manName(command), line)
			}
		}
	}
}

func TestRoff_escapes(t *testing.T) {
	t.Parallel()
	if got, want := roff("a\\b --dir\n.promoter.yaml\n'x'"), "a\\eb \\-\\-dir\n\\&.promoter.yaml\n\\&'x'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
