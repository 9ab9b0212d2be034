package solve_test

import (
	"context"
	"fmt"
	"log"

	"github.com/proviso-eval/proviso/spade/solve"
)

// Three candidate assertions were decided on six outputs that a person labelled. The
// answer is the cheapest set that catches 2 of the 3 bad outputs and fails no good one.
func ExampleSolve() {
	names := []string{"is short", "has a price", "no apology"}
	matrix := &solve.Instance{
		Good: []bool{true, true, true, false, false, false},
		Fails: [][]int{
			{3, 4},    // "is short" fails two bad outputs
			{0, 3, 5}, // "has a price" fails a good one, too
			{3},       // "no apology" fails one bad output
		},
		Implies: [][2]int{{0, 2}}, // what is short has no apology
	}
	matrix.Need, matrix.Allow = solve.Thresholds(3, 3, 0.6, 0)
	answer, err := solve.Solve(context.Background(), matrix, solve.Coverage, solve.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status)
	for _, i := range answer.Selected {
		fmt.Println(names[i])
	}
	fmt.Printf("catches %d bad outputs, fails %d good ones\n", answer.Covered, answer.False)
	// Output:
	// optimal
	// is short
	// catches 2 bad outputs, fails 0 good ones
}
