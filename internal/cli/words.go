package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"promoter/internal/checkout"
	"promoter/internal/config"
)

// Every text that a person reads stands in this file, but for the reasons that
// decisions and errors carry with them.

const (
	wordRootShort = "Promote container images through the environments of a GitOps repository"
	wordRootLong  = `promoter finds the image references in the YAML, Helm, and kustomize files of a GitOps
repository, queries registries for new versions, and changes exactly the bytes of the
values. It opens pull requests and promotes the same digests from environment to
environment.

Data goes to standard output, messages to standard error.`

	wordPlanShort = "Show what would change in a checkout, and why"
	wordPlanLong  = `plan finds the references in a folder, queries the registries, and shows what would change
in each environment, and why. It writes nothing and needs no forge and no database;
conditions and gates that need one are listed as not evaluated.

With --with, plan uses the given versions and queries no registry. The folder then needs no
.promoter.yaml and is one environment.

Exit codes: 0 success; 1 a config error, a refused file, or a registry that did not respond
(the rest is still printed); 2 there are changes, only with --exit-code.`
	wordPlanExample = `  promoter plan
  promoter plan --env staging -o diff
  promoter plan --with quay.io/acme/web:1.5.0 --dir deploy`

	wordApplyShort = "Write the changes that plan shows to the files of a checkout"
	wordApplyLong  = `apply does the same as plan and writes the files. It commits nothing. If one file of an
application cannot be written, apply writes nothing for that application; it writes the
others and exits with 1. An environment with propose: manual is written if --env names it.
Files on branches that are not checked out are not written.

Exit codes: 0 success; 1 a config error, a refused file, or a registry that did not respond;
2 there were changes, only with --exit-code.`
	wordApplyExample = `  promoter apply
  promoter apply --with quay.io/acme/web:1.5.0@sha256:… --path 'apps/web/**'
  crane-list | promoter apply --with -`

	wordValidateShort = "Validate the config file"
	wordValidateLong  = `validate checks .promoter.yaml, and with --server also the server file. It prints each problem
with its file, line, and column, and how to fix it.

Exit codes: 0 no errors (there may be warnings); 1 errors.`

	wordDemoShort = "Run promoter against an embedded registry and Git repository"
	wordDemoLong  = `demo starts a registry on loopback and creates a Git repository with dev, staging, and prod in
a temporary folder. It pushes new images and promotes them with the real commands: at once, on
request, after a soak time, and in a window. A user reverts a bad image. Then demo starts the
service, and a webhook from the registry delivers the next image. It checks each step; if one
fails, it names the step and exits with 1. It changes nothing else and needs no network.

Everything keeps running until Ctrl-C. With --once, demo exits after the last step.

With --forge github, demo uses pull requests on a GitHub Enterprise server on this machine, or an
emulator of one: a user merges staging, promoter merges prod, and a closed pull request rejects
its versions. It needs two tokens, PROMOTER_GITHUB_TOKEN and, for the user,
PROMOTER_DEMO_PERSON_TOKEN. It creates a repository and removes it.`

	wordVersionShort = "Show the version"

	flagDir         = "folder to work in"
	flagEnv         = "only this environment (repeatable; default: all)"
	flagOutput      = "output format: text, json, or diff"
	flagOutputPlain = "output format: text or json"
	flagWith        = "use this version: REPOSITORY[:TAG][@DIGEST], or - to read lines from standard input (repeatable)"
	flagPath        = "only files that match this glob (repeatable)"
	flagExitCode    = "exit with 2 if there are changes"
	flagColor       = "color the output: auto, always, or never"
	flagCache       = "folder that caches immutable facts about images"
	flagNetwork     = "private network (CIDR) that may contain registries (repeatable)"
	flagMaxFileSize = "maximum size in bytes of a file that is parsed"
	flagForge       = "git, or github to use pull requests"
	flagForgeURL    = "GitHub Enterprise server on this machine: http://127.0.0.1:PORT"
	flagKeep        = "keep the folder"
	flagOnce        = "exit after the last step"
	flagServer      = "also validate this server file"

	wordInterrupted = "interrupted"
	wordNoArguments = "%[1]s takes no arguments, got %[2]q: '%[1]s --help' lists its flags"
	wordWrongFlag   = "%w: '%s --help' lists the flags"
	wordNoVerb      = "unknown command \"%[2]s %[1]s\": '%[2]s --help' lists the commands"
	wordVerbMeant   = "unknown command \"%[2]s %[1]s\": did you mean %[3]s?"
)

// say writes one line to people. That they cannot be reached is no error of the
// command.
func say(w io.Writer, format string, args ...any) {
	sayMore(w, "promoter: "+format, args...)
}

// sayMore writes one line more about what was said.
func sayMore(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, visible(fmt.Sprintf(format, args...))+"\n")
}

// sayError says what went wrong. The problems of a config stand in the form that
// editors jump to, one per line.
func sayError(w io.Writer, err error) {
	var invalid *config.Error
	if errors.As(err, &invalid) {
		_, _ = io.WriteString(w, problemLines(invalid.Problems))
		return
	}
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			say(w, "%s", line)
		}
	}
}

// count says how many there are of a thing.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// sayTroubles lists what kept something from being planned.
func sayTroubles(w io.Writer, preview *checkout.Preview) {
	for _, e := range preview.Errors {
		say(w, "%s: %v", e.Component, e.Err)
	}
	for _, repository := range preview.Unused {
		say(w, "no file refers to %s", repository.Familiar())
	}
	for i := range preview.Targets {
		target := &preview.Targets[i]
		if len(target.Refusals) > 0 {
			say(w, "%s: left as it is: %s", placeName(target), target.Refusals[0])
		}
	}
}

// sayPlanned sums a plan up.
func sayPlanned(w io.Writer, preview *checkout.Preview) {
	text := "nothing to change"
	switch targets, files, changes := preview.Count(); {
	case targets > 0:
		text = fmt.Sprintf("%s in %s for %s; 'promoter apply' writes them", count(changes, "change", "changes"),
			count(files, "file", "files"), count(targets, "application", "applications"))
	case preview.Changed():
		text += " here"
	}
	if n := preview.Waiting(); n > 0 {
		text += "; " + count(n, "application waits", "applications wait")
	}
	say(w, "%s", text)
	sayElsewhere(w, preview, "'promoter apply' does not write it here")
}

// sayElsewhere names what lies on branches that are not checked out.
func sayElsewhere(w io.Writer, preview *checkout.Preview, what string) {
	for i := range preview.Targets {
		if target := &preview.Targets[i]; target.Changed() && !target.OnDisk {
			say(w, "%s: %s: its branch is not checked out", placeName(target), what)
		}
	}
}

// sayApplied sums up what apply wrote.
func sayApplied(w io.Writer, preview *checkout.Preview, applied checkout.Applied) {
	if len(applied.Files) == 0 {
		say(w, "nothing written")
	} else {
		say(w, "wrote %s", count(len(applied.Files), "file", "files"))
	}
	sayElsewhere(w, preview, "not written")
}

// sayValidated sums up a check of the config.
func sayValidated(w io.Writer, problems config.Problems) {
	failed, warned := len(problems.Errors()), len(problems.Warnings())
	switch {
	case failed == 0 && warned == 0:
		say(w, "the config is valid")
	case failed == 0:
		say(w, "the config is valid, with %s", count(warned, "warning", "warnings"))
	default:
		say(w, "the config is not valid: %s", count(failed, "error", "errors"))
	}
}
