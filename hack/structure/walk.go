package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// walkHeading is the section of a document that lists the steps of a walk through the code.
const walkHeading = "The life of one work item"

// step is a function that a reader of the code comes to.
type step struct{ file, function string }

var (
	listItem = regexp.MustCompile(`^(\d+\. |\||\s+\S)`) // with the lines that continue it
	quoted   = regexp.MustCompile("`([^`]+)`")
	goFile   = regexp.MustCompile(`^[\w./-]+\.go$`)
	funcName = regexp.MustCompile(`^(?:\(?\*?\w+\)?\.)?(\w+)(?:\(\))?$`)
)

// readSteps returns the steps of a document: in the rows of a table or the items of a list, the
// path of a file in backquotes, and the next name in backquotes.
func readSteps(document string) ([]step, error) {
	inside := false
	file := ""
	var steps []step
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "#") {
			inside = strings.Contains(line, walkHeading)
		}
		if !inside || !listItem.MatchString(line) {
			continue
		}
		for _, found := range quoted.FindAllStringSubmatch(line, -1) {
			switch name := funcName.FindStringSubmatch(found[1]); {
			case goFile.MatchString(found[1]) && file != "":
				return nil, fmt.Errorf("%s is named without a function", file)
			case goFile.MatchString(found[1]):
				file = found[1]
			case file != "" && name != nil:
				steps = append(steps, step{file, name[1]})
				file = ""
			}
		}
	}
	switch {
	case file != "":
		return nil, fmt.Errorf("%s is named without a function", file)
	case len(steps) == 0:
		return nil, fmt.Errorf("no section %q with a list of `FILE` and `FUNCTION`", walkHeading)
	}
	return steps, nil
}

// walk checks that the steps of a document exist, and prints how many files a reader opens, how
// often the way climbs into a higher layer, and how often it returns to a file that was left.
func walk(out io.Writer, root fs.FS, document string) error {
	text, err := fs.ReadFile(root, document)
	if err != nil {
		return err
	}
	steps, err := readSteps(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	layers, err := readLayers(root)
	if err != nil {
		return err
	}
	var files, turns []string
	var climbs, returns int
	var errs []error
	for i, one := range steps {
		errs = append(errs, exists(root, one))
		layer, known := layers[path.Dir(one.file)]
		if !known {
			errs = append(errs, fmt.Errorf("internal/layers has no layer for %s", one.file))
		}
		seen := slices.Contains(files, one.file)
		if !seen {
			files = append(files, one.file)
		}
		if i == 0 || steps[i-1].file == one.file {
			continue
		}
		if before := layers[path.Dir(steps[i-1].file)]; layer > before {
			climbs++
			turns = append(turns, fmt.Sprintf("step %d: from layer %d to %s in layer %d", i+1, before, one.file, layer))
		}
		if seen {
			returns++
			turns = append(turns, fmt.Sprintf("step %d: back to %s", i+1, one.file))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	fmt.Fprintf(out, "%d steps in %d files, %d climbs, %d returns\n", len(steps), len(files), climbs, returns)
	for _, one := range turns {
		fmt.Fprintf(out, "    %s\n", one)
	}
	return nil
}

// exists returns an error unless a file has a function or method of that name.
func exists(root fs.FS, one step) error {
	text, err := fs.ReadFile(root, one.file)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), one.file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == one.function {
			return nil
		}
	}
	return fmt.Errorf("%s has no function %s", one.file, one.function)
}

// layersFile holds the table of the layers.
const layersFile = "internal/layers/table_test.go"

// readLayers returns the layer of each package in the table of internal/layers.
func readLayers(root fs.FS) (map[string]int, error) {
	text, err := fs.ReadFile(root, layersFile)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), layersFile, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	layers := map[string]int{}
	ast.Inspect(file, func(node ast.Node) bool {
		entry, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isText := entry.Key.(*ast.BasicLit)
		position, isLiteral := entry.Value.(*ast.CompositeLit)
		if !isText || !isLiteral {
			return true
		}
		for _, element := range position.Elts {
			field, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			name, isName := field.Key.(*ast.Ident)
			number, isNumber := field.Value.(*ast.BasicLit)
			if !isName || !isNumber || name.Name != "layer" {
				continue
			}
			folder, _ := strconv.Unquote(key.Value)
			layers[folder], err = strconv.Atoi(number.Value)
		}
		return err == nil
	})
	if err == nil && len(layers) == 0 {
		err = fmt.Errorf("%s has no layers", layersFile)
	}
	return layers, err
}
