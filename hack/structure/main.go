// Command structure measures how readable the tree is, from its source alone: sizes of
// packages and functions, wide types, dependencies between the files of a package that
// point against their order, and phrases that no other project of this field uses.
//
//	go run ./hack/structure [DIR...]
//	go run ./hack/structure -walk FILE
//	go run ./hack/structure -check
//
// DIR is the root of a checkout; several are printed below each other, for instance one of
// an older commit. -walk follows the steps that a document lists (walk.go), and -check fails
// where shipped code puts several thoughts into one statement (habits.go), both in this checkout.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	document := flag.String("walk", "", "follow the steps that a `FILE` lists, and count files, climbs, and returns")
	check := flag.Bool("check", false, "fail where a statement of the shipped code holds several thoughts")
	flag.Parse()
	var err error
	switch here := os.DirFS("."); {
	case *document != "":
		err = walk(os.Stdout, here, *document)
	case *check:
		var read *tree
		if read, err = readTree(here); err == nil {
			err = read.checkHabits()
		}
	case flag.NArg() == 0:
		err = run(os.Stdout, []string{"."})
	default:
		err = run(os.Stdout, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dirs []string) error {
	var columns [][]row
	for _, dir := range dirs {
		tree, err := readTree(os.DirFS(dir))
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		columns = append(columns, tree.rows())
	}
	for i, first := range columns[0] {
		fmt.Fprintln(out, first.name)
		for j, column := range columns {
			fmt.Fprintf(out, "    %s: %s\n", dirs[j], column[i].value)
		}
	}
	return nil
}
