package formula

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"strings"
	"unicode/utf8"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
)

// parser turns one text into a tree and keeps what is wrong with it.
type parser struct {
	text   string
	scope  Scope
	base   int // of the text in the parser's file set
	faults []Fault
}

// Parse reads a formula whose names come from the scope. A formula with
// faults is nil.
func Parse(text string, scope Scope) (*Formula, []Fault) {
	p := &parser{text: oneLine(text), scope: scope}
	if !p.plausible() {
		return nil, p.faults
	}
	files := token.NewFileSet()
	tree, err := goparser.ParseExprFrom(files, "", p.text, 0)
	if err != nil {
		p.syntax(err)
		return nil, p.faults
	}
	files.Iterate(func(f *token.File) bool { p.base = f.Base(); return false })
	root := p.build(tree)
	if root == nil || len(p.faults) > 0 {
		return nil, p.faults
	}
	if root.op.truth() {
		p.fault(root.from, "is a condition, not a number", "wrap it as choose(condition, a, b)")
		return nil, p.faults
	}
	f := &Formula{Text: p.text, root: root, dimension: p.dimensions(root)}
	f.bounds = p.bounds(root, nil)
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	f.program = compile(root)
	return f, nil
}

// oneLine keeps every byte where it stands but turns line breaks to blanks,
// at which Go would end an expression.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text)
}

// plausible catches what Go's parser would misread or explain badly.
func (p *parser) plausible() bool {
	switch {
	case strings.TrimSpace(p.text) == "":
		p.fault(0, "the formula is empty", "")
	case len(p.text) > MaxTextBytes:
		p.fault(0, fmt.Sprintf("the formula has more than %d bytes", MaxTextBytes), "name parts of it under let:")
	case !utf8.ValidString(p.text):
		p.fault(0, "the formula is not valid UTF-8", "")
	default:
		bare := blankStrings(p.text)
		for _, f := range foreign {
			if at := strings.Index(bare, f.sign); at >= 0 {
				p.fault(at, fmt.Sprintf("%q is not part of a formula", f.sign), "write "+f.spelled)
			}
		}
	}
	return len(p.faults) == 0
}

// blankStrings replaces what stands in quotes by blanks, byte for byte.
func blankStrings(text string) string {
	blank := []byte(text)
	quoted := false
	for i, b := range blank {
		if b == '"' {
			quoted = !quoted
		} else if quoted {
			blank[i] = ' '
		}
	}
	return string(blank)
}

// build turns Go's tree into ours; nil after a fault.
func (p *parser) build(tree ast.Expr) *node {
	n := p.expression(tree)
	if n != nil {
		n.from, n.to = p.offset(tree.Pos()), p.offset(tree.End())
	}
	return n
}

func (p *parser) offset(pos token.Pos) int { return int(pos) - p.base }

func (p *parser) expression(tree ast.Expr) *node {
	switch e := tree.(type) {
	case *ast.ParenExpr:
		return p.build(e.X)
	case *ast.BasicLit:
		return p.number(e)
	case *ast.Ident:
		return p.figure(e)
	case *ast.UnaryExpr:
		return p.unary(e)
	case *ast.BinaryExpr:
		return p.binary(e)
	case *ast.CallExpr:
		return p.call(e)
	}
	p.fault(p.offset(tree.Pos()), "this is not part of a formula", "a formula has numbers, names, + - * /, comparisons and functions")
	return nil
}

func (p *parser) number(e *ast.BasicLit) *node {
	at := p.offset(e.Pos())
	switch {
	case e.Kind == token.STRING:
		p.fault(at, "a text stands where a number belongs", `texts are only names in gpu("…") and tres("…")`)
		return nil
	case len(e.Value) > 1 && e.Value[0] == '0' && e.Value[1] >= '0' && e.Value[1] <= '9':
		p.fault(at, fmt.Sprintf("%s begins with a 0", e.Value), "write the number without it")
		return nil
	}
	x, err := money.ParseDecimal(e.Value)
	if err != nil {
		remedy := "write a plain decimal such as 0.102"
		if e.Value[0] == '.' {
			remedy = "write 0" + e.Value
		}
		p.fault(at, err.Error(), remedy)
		return nil
	}
	return &node{op: opNumber, value: x}
}

func (p *parser) figure(e *ast.Ident) *node {
	at := p.offset(e.Pos())
	if f, ok := p.scope.find(e.Name); ok {
		return &node{op: opFigure, name: f.Name, slot: f.Slot, scale: f.scale, let: f.let, figure: f}
	}
	if h, ok := p.scope.hidden[e.Name]; ok {
		p.fault(at, e.Name+" "+h.why, h.remedy)
		return nil
	}
	remedy := nearest.Remedy(e.Name, p.scope.Names())
	if sign, ok := words[e.Name]; ok {
		remedy = "write " + sign
	} else if other, ok := spelled[strings.ToLower(e.Name)]; ok {
		remedy = "write " + other
	} else if meant := synonyms[strings.ToLower(e.Name)]; p.scope.has(meant) {
		remedy = fmt.Sprintf("did you mean %s?", meant)
	} else if _, ok := functions[e.Name]; ok || e.Name == "gpu" || e.Name == "tres" {
		remedy = e.Name + " is a function: write " + e.Name + "(…)"
	}
	p.fault(at, fmt.Sprintf("unknown name %s", e.Name), remedy)
	return nil
}

func (p *parser) unary(e *ast.UnaryExpr) *node {
	var o op
	switch e.Op {
	case token.SUB:
		o = opNegate
	case token.NOT:
		o = opNot
	default:
		p.fault(p.offset(e.OpPos), fmt.Sprintf("%q is not part of a formula", e.Op), "")
		return nil
	}
	x := p.build(e.X)
	if x == nil || !p.wants(x, o == opNot) {
		return nil
	}
	return &node{op: o, operands: []*node{x}}
}

var binaries = map[token.Token]op{
	token.ADD: opAdd, token.SUB: opSubtract, token.MUL: opMultiply, token.QUO: opDivide,
	token.LSS: opLess, token.LEQ: opLessEqual, token.GTR: opGreater, token.GEQ: opGreaterEqual,
	token.EQL: opEqual, token.NEQ: opNotEqual, token.LAND: opAnd, token.LOR: opOr,
}

func (p *parser) binary(e *ast.BinaryExpr) *node {
	o, ok := binaries[e.Op]
	if !ok {
		p.fault(p.offset(e.OpPos), fmt.Sprintf("%q is not part of a formula", e.Op), "a formula has + - * /, comparisons, && || and !")
		return nil
	}
	x, y := p.build(e.X), p.build(e.Y)
	if x == nil || y == nil {
		return nil
	}
	conditions := o == opAnd || o == opOr
	if !p.wants(x, conditions) || !p.wants(y, conditions) {
		return nil
	}
	return &node{op: o, operands: []*node{x, y}, name: p.source(y)}
}

// wants reports a condition where a number belongs, and the other way round.
func (p *parser) wants(n *node, condition bool) bool {
	switch {
	case n.op.truth() && !condition:
		p.fault(n.from, fmt.Sprintf("%s is a condition where a number belongs", p.source(n)), "wrap it as choose(condition, a, b), or join comparisons with &&")
		return false
	case !n.op.truth() && condition:
		p.fault(n.from, fmt.Sprintf("%s is a number where a condition belongs", p.source(n)), "compare it, as in gpus > 0")
		return false
	}
	return true
}
