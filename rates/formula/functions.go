package formula

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"sort"
	"strconv"
	"strings"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
)

// Rounding to fewer than −maxPlaces or more than maxPlaces digits is refused.
const maxPlaces = 20

// function is how a function is called.
type function struct {
	op          op
	least, most int // operands; most 0 = any number
	usage       string
}

// functions are those whose operands are expressions, and the roundings,
// whose last operands are settings.
var functions = map[string]function{
	"max":    {opMax, 2, 0, "max(a, b, …)"},
	"min":    {opMin, 2, 0, "min(a, b, …)"},
	"ceil":   {opCeil, 1, 1, "ceil(x)"},
	"floor":  {opFloor, 1, 1, "floor(x)"},
	"trunc":  {opTrunc, 1, 2, "trunc(x, digits)"},
	"round":  {opRound, 1, 3, "round(x, digits, mode)"},
	"step":   {opStep, 2, 2, "step(x, quantum), x rounded up to a multiple of quantum"},
	"choose": {opChoose, 3, 3, "choose(condition, a, b)"},
	"first":  {opFirst, 2, 0, "first(a, b, …), the first that is not 0"},
}

// FunctionNames lists the functions of the language, sorted.
func FunctionNames() []string {
	names := []string{"gpu", "tres"}
	for name := range functions {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (p *parser) call(e *ast.CallExpr) *node {
	name, ok := e.Fun.(*ast.Ident)
	if !ok || e.Ellipsis.IsValid() {
		p.fault(p.offset(e.Pos()), "this is not part of a formula", "")
		return nil
	}
	if name.Name == "gpu" || name.Name == "tres" {
		return p.byName(name.Name, e)
	}
	f, ok := functions[name.Name]
	if !ok {
		remedy := nearest.Remedy(name.Name, FunctionNames())
		if meant, ok := likeFunctions[strings.ToLower(name.Name)]; ok {
			remedy = "write " + meant
		}
		if _, figure := p.scope.find(name.Name); figure {
			remedy = fmt.Sprintf("%s is a figure: write %s * (…)", name.Name, name.Name)
		}
		p.fault(p.offset(e.Pos()), fmt.Sprintf("unknown function %s", name.Name), remedy)
		return nil
	}
	if len(e.Args) < f.least || f.most > 0 && len(e.Args) > f.most {
		p.fault(p.offset(e.Pos()), fmt.Sprintf("%s has %d operands", name.Name, len(e.Args)), "write "+f.usage)
		return nil
	}
	if f.op == opTrunc || f.op == opRound {
		return p.rounding(f, e)
	}
	n := &node{op: f.op}
	for i, arg := range e.Args {
		operand := p.build(arg)
		if operand == nil || !p.wants(operand, f.op == opChoose && i == 0) {
			continue // to report what is wrong with the rest
		}
		n.operands = append(n.operands, operand)
	}
	if len(n.operands) < len(e.Args) {
		return nil
	}
	n.name = p.source(n.operands[len(n.operands)-1])
	return n
}

// rounding reads round(x, digits, mode) and trunc(x, digits).
func (p *parser) rounding(f function, e *ast.CallExpr) *node {
	x := p.build(e.Args[0])
	if x == nil || !p.wants(x, false) {
		return nil
	}
	n := &node{op: f.op, operands: []*node{x}, mode: money.HalfUp}
	if f.op == opTrunc {
		n.mode = money.Down
	}
	if len(e.Args) > 1 && !p.places(n, e.Args[1]) {
		return nil
	}
	if len(e.Args) > 2 && !p.mode(n, e.Args[2]) {
		return nil
	}
	return n
}

func (p *parser) places(n *node, arg ast.Expr) bool {
	sign, lit := 1, arg
	if u, ok := arg.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		sign, lit = -1, u.X
	}
	b, ok := lit.(*ast.BasicLit)
	if ok && b.Kind == token.INT {
		digits, err := strconv.Atoi(b.Value)
		if err == nil && digits <= maxPlaces {
			n.digits = sign * digits
			return true
		}
	}
	p.fault(p.offset(arg.Pos()), "the number of digits is not a whole number, or too large", fmt.Sprintf("write a number from -%d to %d", maxPlaces, maxPlaces))
	return false
}

func (p *parser) mode(n *node, arg ast.Expr) bool {
	name := ""
	switch a := arg.(type) {
	case *ast.Ident:
		name = a.Name
	case *ast.BasicLit:
		name = strings.Trim(a.Value, `"`)
	}
	mode, err := money.ParseMode(name)
	if err != nil {
		p.fault(p.offset(arg.Pos()), "the rounding is not known", "one of half_even, half_up, half_down, up, down, ceil, floor")
		return false
	}
	n.mode = mode
	return true
}

// byName reads gpu("a100") and tres("license/matlab").
func (p *parser) byName(function string, e *ast.CallExpr) *node {
	usage := `write gpu("a100") or tres("license/matlab")`
	text := ""
	if len(e.Args) == 1 {
		if lit, ok := e.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ = strconv.Unquote(lit.Value)
		}
	}
	if text == "" || strings.ContainsAny(text, ",=\"\\ ") {
		p.fault(p.offset(e.Pos()), function+" wants one name in double quotes", usage)
		return nil
	}
	n := &node{op: opTRES, name: fmt.Sprintf("%s(%q)", function, text), tres: text}
	n.figure = Figure{Name: n.name, Dimension: count, Bounds: upTo(maxTRES, money.Int(1))}
	switch {
	case function == "gpu":
		n.tres = "gres/gpu:" + text
		if !p.gpuType(e, text) {
			return nil
		}
		n.figure.Bounds = upTo(maxGPUs, money.Int(1))
		return n
	case strings.HasPrefix(text, "gres/") || strings.HasPrefix(text, "license/"):
		n.figure.Bounds = upTo(maxCPUs, money.Int(1))
	}
	if own, ok := slotted[text]; ok {
		p.fault(p.offset(e.Pos()), fmt.Sprintf("%s has a name of its own", n.name), "write "+own)
		return nil
	}
	kind, name, named := strings.Cut(text, "/")
	switch {
	case slices.Contains([]string{"fs", "ic", "vmem", "pages"}, kind):
		p.fault(p.offset(e.Pos()), fmt.Sprintf("%s is measured of the job's steps, and no job is allocated any", n.name), "AllocTRES has gres/…, license/…, bb/… and energy beside CPUs, memory, nodes and billing")
		return nil
	case text != Energy && (!slices.Contains([]string{"gres", "license", "bb"}, kind) || !named || name == ""):
		p.fault(p.offset(e.Pos()), fmt.Sprintf("%q is not the name of a TRES", text), "as sacctmgr show tres has it: gres/gpu:a100, license/matlab, bb/cray, energy")
		return nil
	}
	return n
}

// Energy is the TRES that is not allocated but measured, of the whole job, in
// joules: Slurm adds it to AllocTRES where it measures it.
const Energy = "energy"

// gpuType reports a name in gpu("…") that no type of GPUs has.
func (p *parser) gpuType(e *ast.CallExpr, name string) bool {
	message, remedy := "", ""
	switch bare := strings.TrimPrefix(strings.TrimPrefix(name, "gres/"), "gpu:"); {
	case bare != name:
		message, remedy = fmt.Sprintf("gpu(%q) has more than the type", name), fmt.Sprintf("write gpu(%q)", bare)
	case strings.ContainsAny(name, "*?"):
		message, remedy = fmt.Sprintf("gpu(%q) is a glob, and counts one type", name), "write gpus for all types together, or add up those meant; match: {gpu_type: …} knows globs"
	default:
		return true
	}
	p.fault(p.offset(e.Pos()), message, remedy)
	return false
}

// slotted are the TRES that are figures already.
var slotted = map[string]string{"cpu": "cpus", "mem": "mem_mib", "node": "nodes", "gres/gpu": "gpus", "billing": "billing"}
