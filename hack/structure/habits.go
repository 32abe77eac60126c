package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what a reader takes in at once.
const (
	maxColumns   = 140 // of a line, in which a tab is 4 wide
	maxStatement = 200 // characters of a statement, with single spaces
)

// habit is a way to put several thoughts into one statement.
type habit string

const (
	longLine      habit = "a line of more than 140 columns"
	longStatement habit = "a statement of more than 200 characters"
	whileNoError  habit = "if err == nil assigns err"
	errorChain    habit = "if err == nil assigns err, twice in a row"
	parallel      habit = "three or more values are assigned at once"
	calls         habit = "an argument is evaluated whatever the others are"
)

// checked are the habits that shipped code must not have. The linter lll finds long lines.
func checked(h habit) bool { return h != longLine && h != whileNoError }

// finding is one place with a habit.
type finding struct {
	file  string
	line  int
	habit habit
}

// finder finds the habits of one file.
type finder struct {
	name, source string
	positions    *token.FileSet
	found        []finding
}

func findHabits(name, source string, positions *token.FileSet, file *ast.File) []finding {
	f := &finder{name: name, source: source, positions: positions}
	line := 0
	for text := range strings.Lines(source) {
		line++
		wide := strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", "    ")
		if utf8.RuneCountInString(wide) > maxColumns {
			f.found = append(f.found, finding{name, line, longLine})
		}
	}
	ast.Inspect(file, f.visit)
	slices.SortStableFunc(f.found, func(a, b finding) int { return a.line - b.line })
	return f.found
}

func (f *finder) add(node ast.Node, h habit) {
	f.found = append(f.found, finding{f.name, f.positions.Position(node.Pos()).Line, h})
}

func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.AssignStmt:
		f.assignment(n, len(n.Lhs), len(n.Rhs))
	case *ast.ValueSpec:
		f.assignment(n, len(n.Names), len(n.Values))
	case *ast.IfStmt:
		if assignsWhileNil(n) {
			f.add(n, whileNoError)
		}
	case *ast.BlockStmt:
		f.chains(n.List)
	case *ast.CaseClause:
		f.chains(n.Body)
	case *ast.CommClause:
		f.chains(n.Body)
	case *ast.CallExpr:
		if called := f.text(n.Fun); (called == "cmp.Or" || called == "errors.Join") && f.effects(n.Args) > 1 {
			f.add(n, calls)
		}
	}
	if statement, ok := node.(ast.Stmt); ok && f.length(statement) > maxStatement {
		f.add(statement, longStatement)
	}
	return true
}

func (f *finder) assignment(node ast.Node, targets, values int) {
	if targets >= 3 && values >= 3 {
		f.add(node, parallel)
	}
}

// assignsWhileNil reports whether a statement is an if err == nil without else that assigns err.
func assignsWhileNil(statement ast.Stmt) bool {
	n, ok := statement.(*ast.IfStmt)
	if !ok || n.Else != nil || !requiresNil(n.Cond) {
		return false
	}
	return slices.ContainsFunc(n.Body.List, func(statement ast.Stmt) bool {
		assignment, ok := statement.(*ast.AssignStmt)
		return ok && assignment.Tok == token.ASSIGN && slices.ContainsFunc(assignment.Lhs, isErr)
	})
}

// requiresNil reports whether a condition is err == nil, perhaps and something else.
func requiresNil(condition ast.Expr) bool {
	n, ok := condition.(*ast.BinaryExpr)
	switch {
	case !ok:
		return false
	case n.Op == token.LAND:
		return requiresNil(n.X) || requiresNil(n.Y)
	}
	null, ok := n.Y.(*ast.Ident)
	return n.Op == token.EQL && isErr(n.X) && ok && null.Name == "nil"
}

func isErr(expression ast.Expr) bool {
	name, ok := expression.(*ast.Ident)
	return ok && name.Name == "err"
}

// chains adds each series of such statements, where it begins.
func (f *finder) chains(statements []ast.Stmt) {
	inRow := 0
	for i, statement := range statements {
		if !assignsWhileNil(statement) {
			inRow = 0
			continue
		}
		if inRow++; inRow == 2 {
			f.add(statements[i-1], errorChain)
		}
	}
}

// effects counts the calls among arguments that may have effects, besides Close, which follows
// an error on purpose.
func (f *finder) effects(arguments []ast.Expr) int {
	pure := []string{
		"len", "string", "int", "int64", "cmp.Compare", "strings.Compare", "bytes.Compare", "slices.Compare",
		"fmt.Errorf", "fmt.Sprint", "fmt.Sprintf", "errors.New",
	}
	return count(arguments, func(argument ast.Expr) bool {
		call, ok := argument.(*ast.CallExpr)
		if !ok {
			return false
		}
		called := f.text(call.Fun)
		method := called[strings.LastIndex(called, ".")+1:]
		return !slices.Contains(pure, called) && method != "Close" && method != "Compare"
	})
}

// length returns how many characters a statement has, without the statements in it. It does not
// count what has lines of its own: literals and types that span lines, and the bodies of
// functions.
func (f *finder) length(statement ast.Stmt) int {
	var begin, end token.Pos
	switch n := statement.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.SelectStmt, *ast.CommClause:
		return 0
	case *ast.IfStmt:
		begin, end = n.Pos(), n.Body.Lbrace
	case *ast.ForStmt:
		begin, end = n.Pos(), n.Body.Lbrace
	case *ast.RangeStmt:
		begin, end = n.Pos(), n.Body.Lbrace
	case *ast.SwitchStmt:
		begin, end = n.Pos(), n.Body.Lbrace
	case *ast.TypeSwitchStmt:
		begin, end = n.Pos(), n.Body.Lbrace
	case *ast.CaseClause:
		begin, end = n.Pos(), n.Colon
	default:
		begin, end = n.Pos(), n.End()
	}
	var skipped []ast.Node
	ast.Inspect(statement, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncLit:
			skipped = append(skipped, n.Body)
			return false
		case *ast.CompositeLit, *ast.BasicLit, *ast.StructType:
			if f.positions.Position(n.Pos()).Line != f.positions.Position(n.End()).Line {
				skipped = append(skipped, n)
				return false
			}
		}
		return true
	})
	var text strings.Builder
	for _, node := range skipped {
		if node.Pos() >= begin && node.End() <= end {
			text.WriteString(f.between(begin, node.Pos()) + " ")
			begin = node.End()
		}
	}
	text.WriteString(f.between(begin, end))
	return utf8.RuneCountInString(strings.Join(strings.Fields(text.String()), " "))
}

func (f *finder) text(node ast.Node) string { return f.between(node.Pos(), node.End()) }

func (f *finder) between(from, to token.Pos) string {
	return f.source[f.positions.Position(from).Offset:f.positions.Position(to).Offset]
}

// checkHabits returns an error that names each place of the shipped code with a checked habit.
func (t *tree) checkHabits() error {
	var lines []string
	for _, one := range t.habits {
		if checked(one.habit) {
			lines = append(lines, fmt.Sprintf("%s:%d: %s", one.file, one.line, one.habit))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%d places of the shipped code put several thoughts into one statement:\n%s", len(lines), strings.Join(lines, "\n"))
}
