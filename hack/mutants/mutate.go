package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// mutant is a file with one change.
type mutant struct {
	file, function string
	kind           string // what is done: delete, negate, swap, drop, return, skip
	text           string // to what, on one line
	line           int
	from, to       int // the bytes that are replaced
	by             string
	source         string // the file as it was read: it may change while mutants are tested
}

// key identifies a mutant while code around it changes.
func (m mutant) key() string {
	return strings.Join([]string{m.file, m.function, m.kind, m.text}, " | ")
}

// apply returns the source with the change.
func (m mutant) apply() string { return m.source[:m.from] + m.by + m.source[m.to:] }

// mutator collects the mutants of one file.
type mutator struct {
	file, function, source string
	positions              *token.FileSet
	mutants                []mutant
}

// mutate returns the mutants of the functions of a file whose names match.
func mutate(file, source string, functions *regexp.Regexp) ([]mutant, error) {
	m := &mutator{file: file, source: source, positions: token.NewFileSet()}
	parsed, err := parser.ParseFile(m.positions, file, source, 0)
	if err != nil {
		return nil, err
	}
	for _, declaration := range parsed.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Body == nil || !functions.MatchString(f.Name.Name) {
			continue
		}
		m.function = nameOf(f)
		ast.Inspect(f.Body, m.visit)
	}
	number(m.mutants)
	return m.mutants, nil
}

// nameOf returns the name of a function, after the type of a method.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// number tells mutants of the same text in one function apart.
func number(mutants []mutant) {
	seen := map[string]int{}
	for i := range mutants {
		key := mutants[i].key()
		if seen[key]++; seen[key] > 1 {
			mutants[i].text += fmt.Sprintf(" #%d", seen[key])
		}
	}
}

func (m *mutator) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.BranchStmt:
		m.add("delete", n, n, "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE { // without it, the code would not compile
			m.add("delete", n, n, "")
		}
	case *ast.IfStmt:
		m.add("negate", n.Cond, n.Cond, "!("+m.text(n.Cond)+")")
	case *ast.ForStmt:
		if n.Cond != nil {
			m.add("negate", n.Cond, n.Cond, "!("+m.text(n.Cond)+")")
		}
	case *ast.SwitchStmt:
		m.cases(n)
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.CallExpr:
		m.union(n)
	case *ast.ReturnStmt:
		m.otherBoolean(n)
	}
	return true
}

// cases skips each case of a switch.
func (m *mutator) cases(of *ast.SwitchStmt) {
	for _, statement := range of.Body.List {
		clause, ok := statement.(*ast.CaseClause)
		switch {
		case !ok || clause.List == nil: // default
		case of.Tag != nil:
			m.add("skip", clause, clause, "")
		default:
			for _, one := range clause.List {
				m.add("skip", one, one, "false && ("+m.text(one)+")")
			}
		}
	}
}

// binary replaces an operator by the opposite, and drops each operand of a disjunction.
func (m *mutator) binary(n *ast.BinaryExpr) {
	opposite := map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND, token.EQL: token.NEQ, token.NEQ: token.EQL}
	if by, ok := opposite[n.Op]; ok {
		m.add("swap", n, n, "("+m.text(n.X)+") "+by.String()+" ("+m.text(n.Y)+")")
	}
	if n.Op == token.LOR {
		m.add("drop", n.X, n, "(false && ("+m.text(n.X)+") || "+m.text(n.Y)+")")
		m.add("drop", n.Y, n, "("+m.text(n.X)+" || false && ("+m.text(n.Y)+"))")
	}
}

// union drops each argument of a call that joins them.
func (m *mutator) union(n *ast.CallExpr) {
	joins := []string{"append", "cmp.Or", "errors.Join", "slices.Concat", "max", "min"}
	name := m.text(n.Fun)
	if !slices.Contains(joins, name) || len(n.Args) < 2 {
		return
	}
	for i, argument := range n.Args {
		if i == 0 && name == "append" {
			continue
		}
		left := make([]string, 0, len(n.Args))
		for j, other := range n.Args {
			if j != i {
				left = append(left, m.text(other))
			}
		}
		m.add("drop", argument, n, name+"("+strings.Join(left, ", ")+")")
	}
}

// otherBoolean returns true for false and false for true.
func (m *mutator) otherBoolean(n *ast.ReturnStmt) {
	for _, result := range n.Results {
		switch m.text(result) {
		case "true":
			m.add("return", n, result, "false")
		case "false":
			m.add("return", n, result, "true")
		}
	}
}

// add adds the mutant in which a node, which is or contains what it is named after, is replaced.
func (m *mutator) add(kind string, named, replaced ast.Node, by string) {
	m.mutants = append(m.mutants, mutant{
		file: m.file, function: m.function, kind: kind,
		text: strings.Join(strings.Fields(m.text(named)), " "), line: m.positions.Position(named.Pos()).Line,
		from: m.positions.Position(replaced.Pos()).Offset, to: m.positions.Position(replaced.End()).Offset, by: by,
		source: m.source,
	})
}

func (m *mutator) text(node ast.Node) string {
	return m.source[m.positions.Position(node.Pos()).Offset:m.positions.Position(node.End()).Offset]
}
