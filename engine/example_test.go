package engine_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// One output is decided about by three assertions. The zero Options work: these
// assertions need no model.
func Example() {
	ctx := context.Background()
	e, err := engine.Open(ctx, nil, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()

	answer := engine.Answer{Output: proviso.Output{Value: "Yes, we repair tubes. A repair costs $8."}}
	result, err := e.Decide(ctx, answer,
		&proviso.Assertion{Type: "icontains", Value: "repair"},
		&proviso.Assertion{Type: "sentence-count", Value: 1},
		&proviso.Assertion{Type: "not-icontains", Value: "as an ai"},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range result.Verdicts {
		fmt.Println(v.Assertion.Type, v.Status, v.Reason)
	}
	fmt.Println("all together:", result.Aggregate.Status)
	// Output:
	// icontains pass Assertion passed
	// sentence-count fail Sentence count 2 does not equal expected 1
	// not-icontains pass Assertion passed
	// all together: fail
}

// A suite from somebody else is run under the zero Policy: it runs no code, and reads
// no file outside of its folder. Its provider, echo, answers with the prompt.
func ExampleOpenFile() {
	ctx := context.Background()
	e, err := engine.OpenFile(ctx, "testdata/greeting.yaml", engine.Options{})
	if err != nil {
		log.Fatal(err) // every mistake in the suite, with its place
	}
	defer e.Close()
	out, err := e.Run(ctx, run.Task{})
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()

	for row, err := range out.Results() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Output, row.Status)
		for _, a := range row.Assertions {
			fmt.Println("  ", a.Type, a.Status)
		}
	}
	fmt.Printf("%d passed, %d failed, %d undecided\n", out.Totals.Passed, out.Totals.Failed, out.Totals.Errors)
	// Output:
	// Hello, Ann! pass
	//    contains pass
	//    not-icontains pass
	// Hello, Bob! fail
	//    contains fail
	// 1 passed, 1 failed, 0 undecided
}

// shouting is a provider: it answers with the prompt in upper case.
type shouting struct{}

func (shouting) ID() string { return "shouting" }

func (shouting) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: strings.ToUpper(ask.Prompt)}, nil
}

// A suite may name a provider of the program by its id.
func ExampleEngines_providers() {
	ctx := context.Background()
	o := engine.Options{Engines: engine.Engines{Providers: []proviso.Provider{shouting{}}}}
	e, err := engine.OpenFile(ctx, "testdata/shouting.yaml", o)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	out, err := e.Run(ctx, run.Task{})
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	for row, err := range out.Results() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Status, row.Output)
	}
	// Output:
	// pass HELLO, ANN!
}

// polite is a judge: it grades without a model, by a list of words.
type polite struct{}

func (polite) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	for _, word := range []string{"please", "thank", "sorry"} {
		if strings.Contains(strings.ToLower(q.Output), word) {
			return proviso.Grade{Pass: true, Score: 1, Reason: "it says " + word}, nil
		}
	}
	return proviso.Grade{Reason: "no polite word"}, nil
}

// A program may decide judged assertions itself. An error of Grade leaves the
// assertion undecided: it never passes.
func ExampleJudge_grader() {
	ctx := context.Background()
	e, err := engine.Open(ctx, nil, engine.Options{Judge: engine.Judge{Grader: polite{}}})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	rubric := &proviso.Assertion{Type: "llm-rubric", Value: "is polite"}
	for _, text := range []string{"Thank you for waiting.", "Wait."} {
		result, err := e.Decide(ctx, engine.Answer{Output: proviso.Output{Value: text}}, rubric)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Verdicts[0].Status, result.Verdicts[0].Reason)
	}
	// Output:
	// pass it says thank
	// fail no polite word
}

// A request in the JSON of the HTTP API. What is decided without a model asks none.
func ExampleEngine_Evaluate() {
	ctx := context.Background()
	e, err := engine.Open(ctx, nil, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	request, err := judge.ReadRequest([]byte(`{
		"agent_input": "Greet Ann", "agent_output": "Hello, Ann!",
		"assertions": [
			{"id": "names_her", "check": {"type": "contains", "value": "Ann"}},
			{"id": "is_short", "check": {"type": "word-count", "value": {"max": 1}}}]}`))
	if err != nil {
		log.Fatal(err)
	}
	response, err := e.Evaluate(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range response.Results {
		fmt.Println(r.ID, r.Status)
	}
	fmt.Println(*response.Score)
	// Output:
	// names_her pass
	// is_short fail
	// 0.5
}

// JavaScript of a suite that the program trusts runs in this process, under limits of
// time and memory, without access to files, network or environment.
func ExampleEngine_Code() {
	ctx := context.Background()
	e, err := engine.Open(ctx, nil, engine.Options{Policy: engine.Policy{Trusted: true, Sandbox: sandbox.Auto}})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	longest, err := e.Code().Compile(ctx, proviso.Source{
		Language: "javascript", Params: []string{"words"}, Text: "words.reduce((a, b) => b.length > a.length ? b : a)",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer longest.Close()
	word, err := longest.Call(ctx, []any{"a", "tyre", "tube", "bicycle"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(word)
	// Output: bicycle
}

// Templates are those of suites: nunjucks.
func ExampleEngine_Templates() {
	ctx := context.Background()
	e, err := engine.Open(ctx, nil, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	text, err := e.Templates().Render(ctx, "Dear {{ name | title }}", value.ObjectOf("name", "ann"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output: Dear Ann
}
