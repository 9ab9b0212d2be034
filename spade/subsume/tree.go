package subsume

import (
	"context"
	_ "embed" // for the script

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
)

// treeScript describes Python by its syntax tree. Python's own parser does that, in the
// sandbox: it reads the text of candidates and never runs it.
//
//go:embed tree.py
var treeScript string

// pythonTrees holds the syntax trees of Python candidates, as texts: without names of
// their functions, docstrings, comments and formatting. Equal trees decide equally.
type pythonTrees map[candidate.Python]string

// readTrees reads the trees of the Python among the candidates. What cannot be parsed,
// or may depend on its own text, has none; nothing has one where no Python runs.
func readTrees(ctx context.Context, list []proviso.Candidate, code proviso.Code) pythonTrees {
	var functions []candidate.Python
	var args [][]any
	for i := range list {
		if f, ok := candidate.PythonFunction(list[i].Assertion); ok {
			functions = append(functions, f)
			args = append(args, []any{f.Text, f.Entry})
		}
	}
	if code == nil || len(functions) < 2 {
		return nil
	}
	fn, err := code.Compile(ctx, proviso.Source{
		Language: "python", Name: "syntax trees", Text: treeScript, Form: proviso.Module, Entry: "tree", Purpose: proviso.Synthesised,
	})
	if err != nil {
		return nil
	}
	defer fn.Close()
	trees := pythonTrees{}
	take := func(i int, result any, err error) {
		if tree, ok := result.(string); ok && err == nil {
			trees[functions[i]] = tree
		}
	}
	if series, ok := fn.(proviso.Series); ok {
		series.CallSeries(ctx, args, take)
		return trees
	}
	for i := range args {
		result, err := fn.Call(ctx, args[i]...)
		take(i, result, err)
	}
	return trees
}

// of returns what a function is compared by. Without a tree it is the text with the
// name, which the text may read.
func (t pythonTrees) of(f candidate.Python) string {
	if tree, ok := t[f]; ok {
		return "tree " + tree
	}
	return f.Entry + " " + f.Text
}
