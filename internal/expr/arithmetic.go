package expr

import (
	"math"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/stdlib"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/proviso-eval/proviso/value"
)

// Number variables are doubles, and a literal such as 2 is an int. CEL does not mix
// the two in arithmetic, nor in == where it knows both types. So the arithmetic
// operators get overloads here that take one of each. A result of type double has
// no static type, like a variable.

// arithmetic holds the operators that are extended.
var arithmetic = []string{operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo}

// standardLibrary is CEL's standard library, extended.
func standardLibrary() ([]cel.EnvOption, error) {
	subset := env.NewLibrarySubset()
	var extended []*decls.FunctionDecl
	for _, f := range stdlib.Functions() {
		extend := extendOperator
		switch {
		case f.Name() == overloads.TypeConvertDouble, f.Name() == overloads.TypeConvertString:
			extend = extendConversion
		case !slices.Contains(arithmetic, f.Name()):
			continue
		}
		subset.ExcludeFunctions = append(subset.ExcludeFunctions, env.NewFunction(f.Name()))
		e, err := extend(f)
		if err != nil {
			return nil, err
		}
		extended = append(extended, e)
	}
	return []cel.EnvOption{
		cel.EagerlyValidateDeclarations(false), cel.CrossTypeNumericComparisons(true),
		cel.StdLib(cel.StdLibSubset(subset)), cel.FunctionDecls(extended...),
	}, nil
}

// extendOperator also declares an operator for operands of different number types.
func extendOperator(f *decls.FunctionDecl) (*decls.FunctionDecl, error) {
	op := f.Name()
	opts := []decls.FunctionOpt{decls.SingletonBinaryBinding(func(a, b ref.Val) ref.Val { return apply(op, a, b) })}
	for _, o := range f.OverloadDecls() {
		opts = append(opts, decls.Overload(o.ID(), o.ArgTypes(), untyped(o.ResultType())))
	}
	mixed := [][2]*types.Type{
		{types.DoubleType, types.IntType}, {types.IntType, types.DoubleType},
		{types.DoubleType, types.UintType}, {types.UintType, types.DoubleType},
	}
	if op == operators.Modulo { // CEL has it only for whole numbers
		mixed = append(mixed, [2]*types.Type{types.DoubleType, types.DoubleType})
	}
	for _, m := range mixed {
		id := op + m[0].TypeName() + "_" + m[1].TypeName()
		opts = append(opts, decls.Overload(id, m[:], types.DynType))
	}
	return decls.NewFunction(op, opts...)
}

// extendConversion declares double() and string(), which formats numbers as the rest of
// proviso does: 12345678, not 1.2345678e+07.
func extendConversion(f *decls.FunctionDecl) (*decls.FunctionDecl, error) {
	var opts []decls.FunctionOpt
	for _, o := range f.OverloadDecls() {
		to := o.ResultType()
		opts = append(opts, decls.Overload(o.ID(), o.ArgTypes(), untyped(to), decls.UnaryBinding(func(v ref.Val) ref.Val {
			if d, ok := v.(types.Double); ok && to == types.StringType {
				return types.String(value.FormatNumber(float64(d)))
			}
			return v.ConvertToType(to)
		})))
	}
	return decls.NewFunction(f.Name(), opts...)
}

func untyped(t *types.Type) *types.Type {
	if t == types.DoubleType {
		return types.DynType
	}
	return t
}

// apply computes a op b.
func apply(op string, a, b ref.Val) ref.Val {
	_, left := a.(types.Double)
	_, right := b.(types.Double)
	if left || right {
		x, first := double(a)
		y, second := double(b)
		if !first || !second {
			return types.NewErr("no such overload")
		}
		return compute(op, x, y)
	}
	switch op {
	case operators.Add:
		if v, ok := a.(traits.Adder); ok {
			return v.Add(b)
		}
	case operators.Subtract:
		if v, ok := a.(traits.Subtractor); ok {
			return v.Subtract(b)
		}
	case operators.Multiply:
		if v, ok := a.(traits.Multiplier); ok {
			return v.Multiply(b)
		}
	case operators.Divide:
		if v, ok := a.(traits.Divider); ok {
			return v.Divide(b)
		}
	case operators.Modulo:
		if v, ok := a.(traits.Modder); ok {
			return v.Modulo(b)
		}
	}
	return types.NewErr("no such overload")
}

func double(v ref.Val) (float64, bool) {
	switch v := v.(type) {
	case types.Double:
		return float64(v), true
	case types.Int:
		return float64(v), true
	case types.Uint:
		return float64(v), true
	}
	return 0, false
}

// compute is arithmetic on doubles. A division by zero is an error, as for ints: a
// comparison with infinity would look like a real decision.
func compute(op string, x, y float64) ref.Val {
	switch op {
	case operators.Add:
		return types.Double(x + y)
	case operators.Subtract:
		return types.Double(x - y)
	case operators.Multiply:
		return types.Double(x * y)
	case operators.Divide:
		if y == 0 {
			return types.NewErr("division by zero")
		}
		return types.Double(x / y)
	}
	if y == 0 {
		return types.NewErr("modulus by zero")
	}
	return types.Double(math.Mod(x, y))
}
