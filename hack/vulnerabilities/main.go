// Command vulnerabilities fails when a program contains code of a module or of Go's standard
// library with a known vulnerability.
//
//	go run ./hack/vulnerabilities -govulncheck PROGRAM -db FOLDER BINARY
//
// A vulnerability counts if one of its symbols is in the program, reachable or not. One without a
// published fix passes with an entry in accepted.txt, with the reason why it does not apply; one with a fix
// never passes.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"promoter/hack/reasons"
)

const acceptedFile = "accepted.txt"

//go:embed accepted.txt
var acceptedText string

func main() {
	govulncheck := flag.String("govulncheck", "", "the program govulncheck")
	database := flag.String("db", "", "the folder of the vulnerability database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *govulncheck, *database, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulnerabilities:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, govulncheck, database string, binaries []string) error {
	if govulncheck == "" || database == "" || len(binaries) != 1 {
		return errors.New("usage: vulnerabilities -govulncheck PROGRAM -db FOLDER BINARY")
	}
	accepted, err := reasons.Read(acceptedFile, acceptedText)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(database)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, govulncheck, "-mode", "binary", "-scan", "symbol", "-format", "json",
		"-db", "file://"+filepath.ToSlash(folder), binaries[0])
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("scan %s: %w", binaries[0], err)
	}
	scanned, err := readScan(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read the result of govulncheck: %w", err)
	}
	fmt.Fprintf(out, "%s of %s has %d vulnerabilities of %s\n",
		filepath.Base(binaries[0]), scanned.goVersion, len(scanned.vulnerabilities), filepath.Base(folder))
	return judge(out, scanned.vulnerabilities, accepted)
}

// judge prints what was found, and returns an error about each vulnerability that does not pass, and about
// each entry that matches none.
func judge(out io.Writer, vulnerabilities []vulnerability, accepted map[string]string) error {
	var problems []error
	found := map[string]bool{}
	for _, v := range vulnerabilities {
		found[v.id] = true
		reason, known := accepted[v.id]
		switch {
		case v.fixed != "":
			problems = append(problems, fmt.Errorf("%s: %s in %s@%s: update it to %s or newer", v.id, v.summary, v.module, v.version, v.fixed))
		case !known:
			problems = append(problems, fmt.Errorf(
				"%s: %s in %s@%s, without a fix: remove the module, or write to accepted.txt why it does not apply",
				v.id, v.summary, v.module, v.version))
		default:
			fmt.Fprintf(out, "%s in %s@%s does not apply: %s\n", v.id, v.module, v.version, reason)
		}
	}
	for id := range accepted {
		if !found[id] {
			problems = append(problems, fmt.Errorf("accepted.txt: %s is not in the program: remove the entry", id))
		}
	}
	return errors.Join(problems...)
}
