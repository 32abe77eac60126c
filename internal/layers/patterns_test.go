package layers

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"testing"
)

// maxInstructions is for one pattern that is compiled at every start of the program. A counted
// repetition is as long as its count: check the length of the text beside the pattern.
const maxInstructions = 200

func TestPatternsOfPackagesAreSmall(t *testing.T) {
	t.Parallel()
	packages, files, err := parsePackages(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for folder, parsed := range packages {
		if table[folder].support {
			continue
		}
		for _, variable := range packageVariables(parsed) {
			for _, value := range variable.Values {
				for literal, size := range patternsIn(t, value) {
					compiled++
					if size > maxInstructions {
						t.Errorf("%s: a pattern has %d instructions, at most %d are permitted", files.Position(literal.Pos()), size, maxInstructions)
					}
				}
			}
		}
	}
	if compiled == 0 {
		t.Error("no pattern was found")
	}
}

// patternsIn returns the number of instructions of each literal that is compiled in an expression.
func patternsIn(t *testing.T, expression ast.Expr) map[*ast.BasicLit]int {
	t.Helper()
	found := map[*ast.BasicLit]int{}
	ast.Inspect(expression, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || called.Sel.Name != "MustCompile" {
			return true
		}
		literal, ok := call.Args[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		found[literal] = len(program.Inst)
		return true
	})
	return found
}
