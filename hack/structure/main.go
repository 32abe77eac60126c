// Command structure measures how readable the tree is, from its source alone: sizes of
// packages and functions, wide types, dependencies between the files of a package that
// point against their order, and phrases that no other project of this field uses.
//
//	go run ./hack/structure [DIR...]
//
// DIR is the root of a checkout; several are printed below each other, for instance one of
// an older commit.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	dirs := os.Args[1:]
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	if err := run(os.Stdout, dirs); err != nil {
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
