// Command mutants changes the code that decides what an incremental reconciliation may reuse,
// one place at a time, and fails when the tests do not notice a change.
//
//	go run ./hack/mutants [-list] [-files REGEXP] [-j N] [-for DURATION]
//
// The table in table.go names the code and its tests. A mutant that means the same as the code
// has an entry in equivalent.txt, with the reason. The files themselves never change: mutants
// are built with the overlays of the go command.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"

	"promoter/hack/reasons"
)

//go:embed equivalent.txt
var equivalentText string

func main() {
	var o options
	flag.BoolVar(&o.list, "list", false, "list the mutants, and run nothing")
	flag.Func("files", "a regular expression: only files whose path matches", func(text string) (err error) {
		o.files, err = regexp.Compile(text)
		return err
	})
	flag.IntVar(&o.atOnce, "j", max(1, runtime.NumCPU()/2), "how many mutants are tested at the same time")
	flag.DurationVar(&o.length, "for", 0, "begin no mutant after this time, and take them in random order; 0: test all, in the order of the files")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, ".", groups(), equivalentText, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	list   bool
	files  *regexp.Regexp // nil: all
	atOnce int
	length time.Duration
}

// job is a mutant with the tests that must notice it.
type job struct {
	mutant
	tests []tests
}

// run tests the mutants of the module in a folder.
func run(ctx context.Context, out io.Writer, root string, groups []group, equivalents string, o options) error {
	reasons, err := reasons.Read("equivalent.txt", equivalents)
	if err != nil {
		return err
	}
	jobs, err := readJobs(os.DirFS(root), groups)
	if err != nil {
		return err
	}
	if err := unknown(reasons, jobs); err != nil {
		return err
	}
	selected := jobs[:0]
	for _, one := range jobs {
		if o.files == nil || o.files.MatchString(one.file) {
			selected = append(selected, one)
		}
	}
	if o.list {
		for _, one := range selected {
			fmt.Fprintf(out, "%s:%d: %s\n", one.file, one.line, one.key())
		}
		return nil
	}
	if o.length > 0 {
		rand.Shuffle(len(selected), func(i, j int) { selected[i], selected[j] = selected[j], selected[i] })
	}
	r := &runner{root: root, out: out, reasons: reasons, limits: map[string]time.Duration{}}
	if err := r.measure(ctx, selected); err != nil {
		return err
	}
	if err := r.runAll(ctx, selected, o); err != nil {
		return err
	}
	r.result.print(out)
	if n := len(r.result.survivors); n > 0 {
		return fmt.Errorf("%d mutants survive: add a test, or an entry with the reason to hack/mutants/equivalent.txt", n)
	}
	return nil
}

// unknown returns an error if an entry matches no mutant.
func unknown(reasons map[string]string, jobs []job) error {
	known := map[string]bool{}
	for _, one := range jobs {
		known[one.key()] = true
	}
	var errs []error
	for key := range reasons {
		if !known[key] {
			errs = append(errs, fmt.Errorf("equivalent.txt: there is no mutant %q", key))
		}
	}
	return errors.Join(errs...)
}
