// Command embed shows proviso in a program of another module: an answering machine that
// checks each answer before sending it, and a suite that tests the machine as a whole.
//
// It needs no key and no network.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/stats"
)

func main() {
	if err := show(context.Background(), os.Stdout, "proviso.yaml"); err != nil {
		log.Fatal(err)
	}
}

// show checks three answers, then runs the suite.
func show(ctx context.Context, w io.Writer, suite string) error {
	e, err := engine.OpenFile(ctx, suite, engine.Options{Engines: engine.Engines{Providers: []proviso.Provider{machine{}}}})
	if err != nil {
		return err
	}
	defer e.Close()

	promises, err := e.Compile(ctx,
		&proviso.Assertion{Type: "word-count", Value: map[string]any{"max": 12}},
		&proviso.Assertion{Type: "not-icontains-any", Value: []string{"refund", "discount"}},
	)
	if err != nil {
		return err
	}
	defer promises.Close()
	for _, question := range []string{"When do you open?", "Can I have a refund?", "Where are you?"} {
		fmt.Fprintf(w, "%s\n  %s\n", question, send(ctx, promises, question))
	}

	out, err := e.Run(ctx, run.Task{})
	if err != nil {
		return err
	}
	defer out.Close()
	for row, err := range out.Results() {
		if err != nil {
			return err
		}
		if row.Status != proviso.Pass {
			fmt.Fprintf(w, "%s: %s: %s\n", row.Description, row.Status, row.Reason)
		}
	}
	for _, a := range out.Summary.Assertions() {
		rate := stats.Wilson(a.Passed, a.Decided(), 0.95)
		fmt.Fprintf(w, "%s: %d of %d pass (95%% interval %.0f–%.0f%%)\n", a.Name(), a.Passed, a.Decided(), 100*rate.Low, 100*rate.High)
	}
	return nil
}

// send returns the answer to a question, unless the answer breaks a promise or the promises
// could not be checked.
func send(ctx context.Context, promises *engine.Assertions, question string) string {
	output, err := machine{}.Answer(ctx, proviso.Ask{Prompt: question})
	if err != nil {
		return "Please call us."
	}
	switch result := promises.Decide(ctx, engine.Answer{Output: output, Prompt: question}); result.Aggregate.Status {
	case proviso.Pass:
		return output.Text()
	case proviso.Fail:
		return "Please call us. (withheld: " + result.Aggregate.Reason + ")"
	default: // an error is not a pass
		return "Please call us. (not checked: " + result.Aggregate.Reason + ")"
	}
}

// machine stands for the application under test, such as a call of a model.
type machine struct{}

// ID returns its name in the suite.
func (machine) ID() string { return "machine" }

// Answer answers a question.
func (machine) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	switch {
	case strings.Contains(ask.Prompt, "open"):
		return proviso.Output{Value: "We open at nine."}, nil
	case strings.Contains(ask.Prompt, "refund"):
		return proviso.Output{Value: "Of course, we refund everything."}, nil
	}
	return proviso.Output{Value: "At 4 Mill Lane."}, nil
}
