// Command kinds runs the tests that attack promoter, and prints one row for each kind of attack: how
// many cases were tried, and whether all were repelled.
//
//	go run ./hack/attack/kinds
//
// The table in table.go names the tests. docs/operate/attacks.md describes what each kind tries. It
// fails if a case is not repelled, or if fewer cases ran than the table has.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kinds:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	command := exec.CommandContext(ctx, "go", arguments(kinds())...)
	var failed bytes.Buffer
	command.Stderr = &failed
	output, err := command.Output()
	results, readErr := readResults(output)
	if readErr != nil {
		return errors.Join(readErr, err, errors.New(failed.String()))
	}
	held := printTable(out, kinds(), results)
	if err != nil || !held {
		return errors.Join(errors.New("an attack was not repelled, or did not run"), err, errors.New(failed.String()+results.failures()))
	}
	return nil
}

// arguments are those of one run of all tests: packages are tested at the same time.
func arguments(all []kind) []string {
	var names, folders []string
	for _, one := range all {
		for _, t := range one.tests {
			names, folders = append(names, t.names...), append(folders, "./"+t.folder)
		}
	}
	slices.Sort(names)
	slices.Sort(folders)
	words := []string{"test", "-json", "-count=1", "-timeout", "20m", "-run", "^(" + strings.Join(slices.Compact(names), "|") + ")$"}
	return append(words, slices.Compact(folders)...)
}

// printTable prints a row for each kind, and reports whether every attack ran and was repelled.
func printTable(out io.Writer, all []kind, r results) (held bool) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "kind\tcases\tresult")
	held = true
	sum := 0
	for _, one := range all {
		c := r.count(one)
		verdict := "repelled"
		switch {
		case c.failed > 0:
			verdict = fmt.Sprintf("%d FELL", c.failed)
		case c.missing != "":
			verdict = c.missing + " did NOT RUN"
		case c.passed+c.skipped < one.least:
			verdict = fmt.Sprintf("FEWER than %d cases", one.least)
		case c.skipped > 0:
			verdict = fmt.Sprintf("repelled, %d skipped: impossible on this machine, or long", c.skipped)
		}
		held = held && strings.HasPrefix(verdict, "repelled")
		sum += c.passed
		fmt.Fprintf(table, "%s\t%d\t%s\n", one.name, c.passed, verdict)
	}
	fmt.Fprintf(table, "all\t%d\n", sum)
	_ = table.Flush()
	return held
}
