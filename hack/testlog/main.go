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
	"regexp"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "a skipped test is an error")
	allow := flag.String("allow", "^$", "reasons for which a test may be skipped all the same (regular expression)")
	flag.Parse()
	allowed, err := regexp.Compile(*allow)
	if err == nil {
		err = run(os.Stdin, os.Stdout, *noSkips, allowed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}
