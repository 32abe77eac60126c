// Command testlog reads the output of `go test -json` and prints what a person
// wants of it: the closing line of every package, the whole output of what
// failed, and every skipped test with its reason. It exits with an error when
// a test failed, and with -no-skips also when one was skipped: in CI every
// optional tool is there, so a skip is a hole.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "a skipped test is an error")
	var allowed []string
	flag.Func("allow", "a word in the reason of a skip that is no error all the same (repeatable)", func(word string) error {
		allowed = append(allowed, word)
		return nil
	})
	flag.Parse()
	err := run(os.Stdin, os.Stdout, *noSkips, allowed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}
