// Command size shows how large a built program is, and how much of its code is of which module.
// With a limit, it fails if the program is larger, so that a dependency that adds megabytes is noticed:
//
//	go run ./hack/size [-limit BYTES] [-packages] PROGRAM
//
// The code of functions is a bit less than half of a program. The rest, such as the tables of lines and
// types, grows with it and has no owner that the program records.
package main

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	limit := flag.Int64("limit", 0, "the largest size, in bytes; 0: any")
	packages := flag.Bool("packages", false, "show packages and not modules")
	flag.Parse()
	if err := report(os.Stdout, flag.Arg(0), *limit, *packages); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// shown is how many modules or packages are shown.
const shown = 40

// report writes the size of a program, and of the code in it.
func report(out io.Writer, program string, limit int64, packages bool) error {
	about, err := os.Stat(program)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	functions, err := read(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	modules := []string{info.Main.Path}
	for _, module := range info.Deps {
		modules = append(modules, module.Path)
	}
	code := map[string]int64{}
	var all int64
	for name, size := range functions {
		owner := packageOf(name)
		if !packages {
			owner = moduleOf(owner, modules)
		}
		code[owner] += size
		all += size
	}
	_, _ = fmt.Fprintf(out, "%.1f MB, of which %.1f MB are code:\n", mb(about.Size()), mb(all))
	owners := slices.SortedFunc(maps.Keys(code), func(a, b string) int { return cmp.Or(cmp.Compare(code[b], code[a]), cmp.Compare(a, b)) })
	for _, owner := range owners[:min(shown, len(owners))] {
		_, _ = fmt.Fprintf(out, "%8.2f  %s\n", mb(code[owner]), owner)
	}
	if limit > 0 && about.Size() > limit {
		return fmt.Errorf("the program has %.1f MB, more than %.1f MB: see docs/performance.md#the-size-of-the-program", mb(about.Size()), mb(limit))
	}
	return nil
}

func mb(size int64) float64 { return float64(size) / 1e6 }

// read returns the sizes of the functions of a program for Linux, which may be without symbols: panics need
// the table of its functions.
func read(program string) (map[string]int64, error) {
	file, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, lines := file.Section(".text"), file.Section(".gopclntab")
	if text == nil || lines == nil {
		return nil, errors.New("it is not a program of Go")
	}
	data, err := lines.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, function := range table.Funcs {
		sizes[function.Name] += int64(function.End - function.Entry) //nolint:gosec // it is less than the file
	}
	return sizes, nil
}

// packageOf returns the package of a function: PATH/NAME.FUNCTION, where the path has escaped dots after the
// last slash.
func packageOf(function string) string {
	name, _, _ := strings.Cut(function, "[") // of a type parameter, which has slashes too
	name = strings.TrimPrefix(strings.TrimPrefix(name, "type:.eq."), "type:.hash.")
	folder, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		folder, base = name[:i+1], name[i+1:]
	}
	base, _, _ = strings.Cut(base, ".")
	return strings.ReplaceAll(folder+base, "%2e", ".")
}

// moduleOf returns the module of a package; the standard library has none.
func moduleOf(pkg string, modules []string) string {
	found := ""
	for _, module := range modules {
		if (pkg == module || strings.HasPrefix(pkg, module+"/")) && len(module) > len(found) {
			found = module
		}
	}
	switch {
	case found != "":
		return found
	case pkg == "main":
		return modules[0]
	}
	return "the standard library"
}
