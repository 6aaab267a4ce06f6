// Package locks finds two kinds of errors in the source of a program: mutexes that may be locked
// while they are locked already, and mutexes that are locked in one order here and in another
// there. Either error hangs a program once in a while. A read lock that is taken twice hangs it if
// another goroutine waits to write in between.
//
// The package identifies a mutex by its field or variable, not by its value. So it cannot tell
// apart the mutexes of two values of one type. It follows calls of interfaces, and calls of
// functions that are passed on, by variable type analysis (package vta). It does not follow other
// goroutines. Nor does it follow calls back from packages outside of the program, except from
// slices, maps and sort.
package locks

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Find returns a sentence for each mutex of the packages that may be locked twice, and for each two
// whose order is not always the same. The patterns are those of go list, in the folder dir.
func Find(dir string, patterns ...string) ([]string, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: dir}, patterns...)
	if err != nil {
		return nil, err
	}
	var errs []error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	})
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	built, _ := ssautil.Packages(loaded, ssa.InstantiateGenerics)
	built.Build()
	p := &program{
		sites: map[*ssa.Function][]site{}, callers: map[*ssa.Function]map[*ssa.Function]bool{}, passed: map[*ssa.Parameter][]*ssa.Function{},
		effects: map[*ssa.Function]map[effect]cause{}, orders: map[order]cause{},
	}
	p.read(ssautil.AllFunctions(built))
	p.solve()
	return p.report(built.Fset, dir), nil
}

// mutex is the field or the variable that is a mutex.
type mutex = types.Object

// effect is what a call of a function may do: lock a mutex or call a parameter, its own or that of
// a function around it. If held is not nil, it does so while it holds that.
type effect struct {
	held, locked mutex
	calls        *ssa.Parameter
}

// cause is why a function has an effect: the instruction, and the function called there with the
// effect of it, or nil.
type cause struct {
	in   *ssa.Function
	at   token.Pos
	of   *ssa.Function
	what effect
}

// order is that one mutex is locked while another is held, or the same one.
type order struct{ held, locked mutex }

// site is an instruction that locks or calls, with the mutexes that may be held there.
type site struct {
	held    []mutex
	locks   mutex           // or nil
	call    *ssa.Call       // or nil
	calls   *ssa.Parameter  // what is called is a parameter; or nil
	callees []*ssa.Function // otherwise
}

type program struct {
	sites   map[*ssa.Function][]site
	callers map[*ssa.Function]map[*ssa.Function]bool // whose effects depend on those of a function
	passed  map[*ssa.Parameter][]*ssa.Function       // what a parameter that is called may be
	effects map[*ssa.Function]map[effect]cause
	orders  map[order]cause
}

// read finds the sites of all functions.
func (p *program) read(functions map[*ssa.Function]bool) {
	graph := vta.CallGraph(functions, nil)
	for f := range functions {
		callees := map[ssa.CallInstruction][]*ssa.Function{}
		if node := graph.Nodes[f]; node != nil {
			for _, e := range node.Out {
				callees[e.Site] = append(callees[e.Site], e.Callee.Func)
			}
		}
		for call, held := range holding(f) {
			s := site{held: held, call: call, callees: callees[call]}
			if m, does := operation(call); does == locks {
				s.locks, s.callees = m, nil
			} else if param := parameter(call.Call.Value); param != nil && !call.Call.IsInvoke() {
				p.passed[param] = append(p.passed[param], s.callees...)
				s.calls, s.callees = param, nil
			}
			s.callees = append(s.callees, callsBack(call)...)
			p.sites[f] = append(p.sites[f], s)
			for _, callee := range s.callees {
				p.dependsOn(f, callee)
			}
			for _, arg := range call.Call.Args {
				if callee := function(arg); callee != nil {
					p.dependsOn(f, callee)
				}
			}
		}
	}
}

func (p *program) dependsOn(f, callee *ssa.Function) {
	if p.callers[callee] == nil {
		p.callers[callee] = map[*ssa.Function]bool{}
	}
	p.callers[callee][f] = true
}

// What an instruction does with a mutex.
type does int

const (
	nothing does = iota
	locks
	unlocks
)

// operation returns what a call does with which mutex.
func operation(call *ssa.Call) (mutex, does) {
	callee := call.Call.StaticCallee()
	if callee == nil || callee.Pkg == nil || callee.Pkg.Pkg.Path() != "sync" || len(call.Call.Args) != 1 {
		return nil, nothing
	}
	kind := map[string]does{"Lock": locks, "RLock": locks, "Unlock": unlocks, "RUnlock": unlocks}[callee.Name()]
	if kind == nothing || !strings.HasSuffix(callee.Signature.Recv().Type().String(), "Mutex") {
		return nil, nothing
	}
	switch at := call.Call.Args[0].(type) {
	case *ssa.FieldAddr:
		return at.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(at.Field), kind
	case *ssa.Global:
		return at.Object(), kind
	}
	return nil, nothing
}

// holding returns the calls in f, each with the mutexes that may be held there. One that is
// unlocked by defer is held until the end. What f's callers hold is not among them.
func holding(f *ssa.Function) map[*ssa.Call][]mutex {
	calls := map[*ssa.Call][]mutex{}
	into := map[*ssa.BasicBlock]map[mutex]bool{}
	for work := slices.Clone(f.Blocks[:min(1, len(f.Blocks))]); len(work) > 0; work = work[1:] {
		held := map[mutex]bool{}
		maps.Copy(held, into[work[0]])
		for _, i := range work[0].Instrs {
			call, is := i.(*ssa.Call)
			if !is {
				continue
			}
			m, does := operation(call)
			if does == unlocks {
				delete(held, m)
				continue
			}
			calls[call] = slices.Collect(maps.Keys(held))
			if does == locks {
				held[m] = true
			}
		}
		for _, next := range work[0].Succs {
			more := into[next] == nil
			if more {
				into[next] = map[mutex]bool{}
			}
			for m := range held {
				more = more || !into[next][m]
				into[next][m] = true
			}
			if more {
				work = append(work, next)
			}
		}
	}
	return calls
}

// callsBack returns the functions given to a call of one of the packages that call those at once.
func callsBack(call *ssa.Call) (functions []*ssa.Function) {
	callee := call.Call.StaticCallee()
	if callee == nil || len(callee.Blocks) > 0 {
		return nil
	}
	if origin := callee.Origin(); origin != nil {
		callee = origin
	}
	if callee.Pkg == nil || !slices.Contains([]string{"slices", "maps", "sort"}, callee.Pkg.Pkg.Path()) {
		return nil
	}
	for _, arg := range call.Call.Args {
		if f := function(arg); f != nil {
			functions = append(functions, f)
		}
	}
	return functions
}

// function returns the function that a value is, if that is plain.
func function(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.Function:
		return v
	case *ssa.MakeClosure:
		return v.Fn.(*ssa.Function)
	case *ssa.ChangeType:
		return function(v.X)
	}
	return nil
}

// parameter returns the parameter that a value is, of its function or of one around that, or nil.
func parameter(v ssa.Value) *ssa.Parameter {
	switch v := v.(type) {
	case *ssa.Parameter:
		return v
	case *ssa.ChangeType:
		return parameter(v.X)
	case *ssa.UnOp:
		return parameter(v.X)
	case *ssa.Alloc: // a variable that a closure uses: is a parameter all that is ever in it?
		var of *ssa.Parameter
		for _, user := range *v.Referrers() {
			if store, ok := user.(*ssa.Store); ok && store.Addr == v {
				if of != nil {
					return nil
				}
				of = parameter(store.Val)
			}
		}
		return of
	case *ssa.FreeVar:
		f := v.Parent()
		if f.Referrers() == nil { // a method that is passed on
			return nil
		}
		for _, user := range *f.Referrers() {
			if made, ok := user.(*ssa.MakeClosure); ok && made.Fn == f {
				return parameter(made.Bindings[slices.Index(f.FreeVars, v)])
			}
		}
	}
	return nil
}

// solve works out the effects of all functions, until nothing is left to find.
func (p *program) solve() {
	work := slices.Collect(maps.Keys(p.sites))
	waits := map[*ssa.Function]bool{}
	for _, f := range work {
		waits[f] = true
	}
	for len(work) > 0 {
		f := work[0]
		work = work[1:]
		waits[f] = false
		before := len(p.effects[f])
		for i := range p.sites[f] {
			p.follow(f, &p.sites[f][i])
		}
		if len(p.effects[f]) == before {
			continue
		}
		for caller := range p.callers[f] {
			if !waits[caller] {
				waits[caller] = true
				work = append(work, caller)
			}
		}
	}
}

// follow finds the effects that f has by one of its sites.
func (p *program) follow(f *ssa.Function, s *site) {
	at := s.call.Pos()
	switch {
	case s.locks != nil:
		p.add(f, s, effect{locked: s.locks}, cause{in: f, at: at})
	case s.calls != nil:
		p.call(f, s, effect{calls: s.calls}, cause{in: f, at: at})
	}
	for _, callee := range s.callees {
		for e := range p.effects[callee] {
			p.call(f, s, e, cause{f, at, callee, e})
		}
	}
}

// call adds an effect of what is called at a site. Where that is to call a parameter, it is the
// effects of what is passed there.
func (p *program) call(f *ssa.Function, s *site, e effect, why cause) {
	if e.calls == nil {
		p.add(f, s, e, why)
		return
	}
	var passed []*ssa.Function
	switch i := index(why.of, e.calls); {
	case why.of == nil || i < 0 && within(f, e.calls.Parent()):
		p.add(f, s, e, why)
		return
	case i < 0:
		passed = p.passed[e.calls]
	default:
		if s.call.Call.IsInvoke() {
			i--
		}
		if i < 0 || i >= len(s.call.Call.Args) {
			return
		}
		arg := s.call.Call.Args[i]
		if own := parameter(arg); own != nil {
			p.add(f, s, effect{held: e.held, calls: own}, why)
			return
		}
		if passed = p.passed[e.calls]; function(arg) != nil {
			passed = []*ssa.Function{function(arg)}
		}
	}
	for _, g := range passed {
		p.dependsOn(f, g)
		for inner := range p.effects[g] {
			because := cause{f, why.at, g, inner}
			switch {
			case e.held != nil && inner.locked != nil:
				p.order(e.held, inner.locked, because)
			case e.held != nil:
				p.add(f, s, effect{held: e.held, calls: inner.calls}, because)
			default:
				p.add(f, s, inner, because)
			}
		}
	}
}

// index returns which parameter of f p is, or -1.
func index(f *ssa.Function, p *ssa.Parameter) int {
	if f == nil {
		return -1
	}
	return slices.Index(f.Params, p)
}

// within reports whether f is a function, or stands in it.
func within(f, outer *ssa.Function) bool {
	for ; f != nil; f = f.Parent() {
		if f == outer {
			return true
		}
	}
	return false
}

// add notes an effect of f by a site, and what it means for what is held there.
func (p *program) add(f *ssa.Function, s *site, e effect, why cause) {
	for _, held := range s.held {
		switch {
		case e.locked != nil:
			p.order(held, e.locked, why)
		case e.held == nil:
			p.put(f, effect{held: held, calls: e.calls}, why)
		}
	}
	p.put(f, e, why)
}

func (p *program) put(f *ssa.Function, e effect, why cause) {
	if p.effects[f] == nil {
		p.effects[f] = map[effect]cause{}
	}
	if _, known := p.effects[f][e]; !known {
		p.effects[f][e] = why
	}
}

func (p *program) order(held, locked mutex, why cause) {
	if _, known := p.orders[order{held, locked}]; !known {
		p.orders[order{held, locked}] = why
	}
}

// report tells of orders that may hang.
func (p *program) report(files *token.FileSet, dir string) (found []string) {
	at := func(pos token.Pos) string {
		position := files.Position(pos)
		if short, err := filepath.Rel(dir, position.Filename); err == nil {
			position.Filename = short
		}
		return fmt.Sprintf("%s:%d", position.Filename, position.Line)
	}
	after := map[mutex]map[mutex]bool{}
	for o := range p.orders {
		if after[o.held] == nil {
			after[o.held] = map[mutex]bool{}
		}
		after[o.held][o.locked] = true
	}
	for o, why := range p.orders {
		text := fmt.Sprintf("%s (%s) may be locked twice", o.held.Name(), at(o.held.Pos()))
		if o.held != o.locked {
			if !reaches(after, o.locked, o.held) {
				continue
			}
			text = fmt.Sprintf("%s (%s) is locked while %s (%s) is, and elsewhere it is the other way round",
				o.locked.Name(), at(o.locked.Pos()), o.held.Name(), at(o.held.Pos()))
		}
		for known := true; known; why, known = p.effects[why.of][why.what] {
			text += fmt.Sprintf("\n\t%s at %s", why.in, at(why.at))
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

// reaches reports whether one mutex may be locked while the other is, be it by way of others.
func reaches(after map[mutex]map[mutex]bool, from, to mutex) bool {
	seen := map[mutex]bool{}
	for work := []mutex{from}; len(work) > 0; work = work[1:] {
		if work[0] == to {
			return true
		}
		if !seen[work[0]] {
			seen[work[0]] = true
			work = slices.AppendSeq(work, maps.Keys(after[work[0]]))
		}
	}
	return false
}
