package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// A suite from somebody else is read and run under the zero Policy: it runs no code,
// and reads no file outside of its folder. Its provider, echo, answers with the prompt.
func Example() {
	ctx := context.Background()
	env := proviso.EnvMap{} // of the user
	var o engine.Options
	o.Engines.Env = env

	s, mistakes := suite.Read(ctx, []string{"testdata/greeting.yaml"}, suite.Options{
		Env: env, Facts: engine.Facts(), Trust: o.Policy.Suite(env), Files: o.Policy.Files(),
	})
	if err := mistakes.Err(); err != nil {
		log.Fatal(err)
	}
	e, err := engine.Open(ctx, s, o)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	plan, mistakes := e.Plan(ctx, run.Task{})
	if err := mistakes.Err(); err != nil {
		log.Fatal(err)
	}
	out, err := plan.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	fmt.Printf("%d passed, %d failed\n", out.Totals.Passed, out.Totals.Failed)
	for _, row := range out.Rows.Rows() {
		v, err := value.ParseJSON(string(row))
		if err != nil {
			log.Fatal(err)
		}
		r := v.(*value.Object)
		fmt.Println(r.At("success"), r.At("error"))
	}
	// Output:
	// 1 passed, 1 failed
	// true <nil>
	// false Expected output to contain "Ann"
}

// A request is evaluated without a suite. What is decided without a model asks none.
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
