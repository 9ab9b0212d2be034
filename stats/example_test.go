package stats_test

import (
	"fmt"
	"log"

	"github.com/proviso-eval/proviso/stats"
)

// How sure is a pass rate of 45 of 50?
func ExampleWilson() {
	i := stats.Wilson(45, 50, 0.95)
	fmt.Printf("90%%, from %.0f%% to %.0f%%\n", 100*i.Low, 100*i.High)
	// Output: 90%, from 79% to 96%
}

// Did the new prompt make the same 50 cases better?
func ExampleNewcombePaired() {
	pairs := stats.Pairs{Both: 38, OnlyFirst: 2, OnlySecond: 9, Neither: 1}
	change, err := stats.NewcombePaired(pairs, 0.95)
	if err != nil {
		log.Fatal(err)
	}
	p, err := stats.McNemar(pairs.OnlyFirst, pairs.OnlySecond, stats.TwoSided, true)
	if err != nil {
		log.Fatal(err)
	}
	// The difference is first − second, so it is negative if the second is better.
	fmt.Printf("better by %.0f points, from %.0f to %.0f\n", -100*change.Value, -100*change.High, -100*change.Low)
	fmt.Printf("p = %.3f\n", p)
	// Output:
	// better by 14 points, from 1 to 28
	// p = 0.039
}
