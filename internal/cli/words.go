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
	wordRootShort = "Carry new image digests through the environments of a GitOps repository"
	wordRootLong  = `promoter finds the image references in the YAML, Helm and kustomize files of a
GitOps repository, learns from registries which versions are new, and changes
exactly the bytes of the values.

Data goes to standard output, words to standard error.`

	wordPlanShort = "Show what would change in a checkout, and why"
	wordPlanLong  = `plan finds the references in a folder, asks the registries, and shows what would
change in each environment, and why. It writes nothing and needs no forge and no
database: conditions and gates that need one are named as not evaluated.

With --with the named versions are taken as they are and no registry is asked;
then the folder needs no .promoter.yaml and is one environment.

Exit codes: 0 done; 1 an error in the config, something refused, or a registry
that did not answer (the rest is still shown); 2 there are changes, with
--exit-code only.`
	wordPlanExample = `  promoter plan
  promoter plan --env staging -o diff
  promoter plan --with quay.io/acme/web:1.5.0 --dir deploy`

	wordApplyShort = "Write what plan shows into the files of a checkout"
	wordApplyLong  = `apply does what plan does and writes the files. It commits nothing. An application
with a file that cannot be written is left as it is, as a whole; the others are
written, and the exit code is 1. An environment that waits for a person is
written when --env names it. Files of branches that are not checked out are not
written.

Exit codes: 0 done; 1 an error in the config, something refused, or a registry
that did not answer; 2 there were changes, with --exit-code only.`
	wordApplyExample = `  promoter apply
  promoter apply --with quay.io/acme/web:1.5.0@sha256:… --path 'apps/web/**'
  crane-list | promoter apply --with -`

	wordValidateShort = "Check the config file"
	wordValidateLong  = `validate reads .promoter.yaml, and with --server the server's file, and shows every
problem with its place and what to do about it.

Exit codes: 0 no errors (there may be warnings); 1 errors.`

	wordDemoShort = "Show promoter at work on embedded parts"
	wordDemoLong  = `demo starts a registry on loopback and makes a Git repository with dev, staging
and prod in a temporary folder. It pushes new images and lets the real verbs carry
them: at once, when somebody asks, after some time, and in a window; a bad image is
taken back by hand. Then it starts the service, and a webhook of the registry brings
the next image. It checks every step and exits with 1, naming the step, if one is
not as promised. It touches nothing else and needs no network.

Then everything keeps running to be played with, until Ctrl-C; with --once it ends.

With --forge github it tells the same with pull requests, on a server with GitHub's
API on this machine, such as an emulator: staging is merged by a person, prod by
promoter, and a closed pull request is an answer. It wants two tokens there,
PROMOTER_GITHUB_TOKEN and, for the person, PROMOTER_DEMO_PERSON_TOKEN, makes a
repository and removes it. Git it serves itself.`

	wordVersionShort = "Show the version"

	flagDir         = "the folder to work in"
	flagEnv         = "an environment to look at (repeatable; default: all)"
	flagOutput      = "the form of the output: text, json or diff"
	flagOutputPlain = "the form of the output: text or json"
	flagWith        = "take this version as given: REPOSITORY[:TAG][@DIGEST], or - to read lines (repeatable)"
	flagPath        = "look only at files that match this glob (repeatable)"
	flagExitCode    = "exit with 2 when there are changes"
	flagColor       = "color the output: auto, always or never"
	flagCache       = "a folder to keep facts about images in, which never change"
	flagNetwork     = "a private network, as CIDR, in which registries may lie (repeatable)"
	flagMaxFileSize = "the size in bytes over which a file is not parsed"
	flagForge       = "where the story is told: git, or github for one with pull requests"
	flagForgeURL    = "the server with GitHub's API, on this machine: http://127.0.0.1:PORT"
	flagKeep        = "keep the folder to look at"
	flagOnce        = "end by itself after the last step, rather than with Ctrl-C"
	flagServer      = "check this server file too"

	wordInterrupted = "interrupted"
	wordNoArguments = "%[1]s takes no arguments, and got %[2]q: '%[1]s --help' lists its flags"
	wordWrongFlag   = "%w: '%s --help' lists the flags"
	wordNoVerb      = "there is no \"%[2]s %[1]s\": '%[2]s --help' lists what there is"
	wordVerbMeant   = "there is no \"%[2]s %[1]s\": did you mean %[3]s?"
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
