package app_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/verb"
)

// Each command of the program that uses an entrance of the service or the forge gets the answer of the table, and all
// others ask for no service.
func TestEntrances_ofCommands(t *testing.T) {
	t.Parallel()
	built := make(chan string, 1)
	file := filepath.Join(t.TempDir(), "promoter")
	go func() { built <- buildProgram(t.Context(), file) }()
	w := newEntranceWorld(t, false)
	w.program, w.delivery = file, w.deliver()
	if problem := <-built; problem != "" {
		t.Fatal(problem)
	}
	table := commandTable(t)
	var commands, remote []string
	_, listed := w.command("", "__complete", "")
	for line := range strings.Lines(listed) {
		name, _, isCommand := strings.Cut(strings.TrimSpace(line), "\t")
		if !isCommand {
			continue
		}
		if name == "seals" {
			name = "seals adopt" // its only command
		}
		commands = append(commands, name)
		if _, help := w.command("", append(strings.Fields(name), "--help")...); strings.Contains(help, "--url ") {
			remote = append(remote, name)
		}
	}
	entrancesCover(t, "commands", append(commands, "bypass", "rollback with bypass"), append(table.whats(), ownCommands()...))
	remote = slices.DeleteFunc(remote, func(name string) bool { return name == "doctor" }) // it only reads the status there
	entrancesCover(t, "commands with --url", append(remote, "bypass", "rollback with bypass"), table.whats())
	prepared := ""
	table.compare(t, func(row entranceRow, principal string) string {
		if prepared != row.what { // a refusal changed nothing
			w.prepare(row.what)
		}
		prepared = row.what
		answer, _ := w.command(principal, w.arguments(row.what, principal)...)
		if answer == answerYes {
			prepared = ""
		}
		return answer
	})
}

// prepare undoes what a decision does, so that it is none that is in effect already.
func (w *entranceWorld) prepare(what string) {
	w.t.Helper()
	before, found := map[string]string{
		"hold": "resume", "reject": "unreject", "unreject": "reject", "rollback": "resume", "rollback with bypass": "resume", "promote": "unreject",
		"freeze": "thaw", "resume": "hold", "thaw": "freeze",
	}[what]
	if !found {
		return
	}
	if answer, output := w.command("key", w.arguments(before, "key")...); answer != answerYes {
		w.t.Fatalf("%s before %s: %s", before, what, output)
	}
}

// arguments returns the command line for a row.
func (w *entranceWorld) arguments(what, principal string) []string {
	arguments := []string{what}
	switch what {
	case "bypass":
		arguments = []string{"promote", "--bypass", "soak"}
	case "rollback with bypass":
		arguments = []string{"rollback", "--bypass", "windows", "--to", w.first}
	case "reject", "unreject":
		arguments = append(arguments, "web:1.1.0")
	case "rollback":
		arguments = append(arguments, "--to", w.first)
	case "where":
		arguments = append(arguments, "1.0.0")
	case "seals adopt":
		arguments = []string{"seals", "adopt"}
	case "replay":
		arguments = append(arguments, w.delivery, "--dry-run")
	}
	decides := what == "bypass" || what == "rollback with bypass" || slices.Contains(verb.Decisions(), verb.Verb(what))
	administers := what == string(verb.ConfirmState) || what == "seals adopt"
	if decides || administers {
		if decides {
			arguments = append(arguments, "--env", "dev")
		}
		arguments = append(arguments, "--reason", w.reason(), "--repo")
		repository := "forge:acme/gitops"
		if isToken(principal) {
			repository = "acme/gitops"
		}
		arguments = append(arguments, repository)
		if what != "freeze" && what != "thaw" && !administers {
			arguments = append(arguments, "--app", "shop")
		}
	}
	file := w.file
	if principal == "no-key" {
		file = w.dir + "/server.yaml"
	}
	arguments = append(arguments, "--config", file)
	if isToken(principal) {
		arguments = append(arguments, "--url", w.url)
	}
	return arguments
}

// isToken reports whether a command of a principal asks the service.
func isToken(principal string) bool {
	return slices.Contains([]string{"read", "operate", "admin"}, principal)
}

// command runs the program with what a principal has, and returns its answer and its output.
func (w *entranceWorld) command(principal string, arguments ...string) (answer, output string) {
	w.t.Helper()
	command := exec.CommandContext(w.t.Context(), w.program, arguments...)
	command.Dir = w.dir
	command.Env = []string{"HOME=" + w.dir, "PATH=" + os.Getenv("PATH")}
	set := func(name, value string) { command.Env = append(command.Env, name+"="+value) }
	for _, name := range []string{"TOKEN", "SEAL"} {
		value, _ := environmentWith(w.token)(name)
		set(name, value)
	}
	switch {
	case isToken(principal):
		set("PROMOTER_API_TOKEN", secretOf(principal, aboutEverything))
	case principal == "reader":
		set("TOKEN", w.forge.Token("eve", "repo", "read:org")) // the last one counts
	default:
		set("PROMOTER_USER_TOKEN", w.forge.Token("ada", "repo", "read:org"))
	}
	text, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return answerYes, string(text)
	case !errors.As(err, &exit) || exit.ExitCode() != 1:
		return err.Error() + ": " + string(text), string(text)
	}
	return answerNo, string(text)
}

// buildProgram builds the program, and returns why it could not. Its packages are above this one.
func buildProgram(ctx context.Context, file string) (problem string) {
	if text, err := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", file, "promoter/cmd/promoter").CombinedOutput(); err != nil {
		return err.Error() + ": " + string(text)
	}
	return ""
}
