package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
)

// priceFlags say what candidates cost in production, for each output.
type priceFlags struct {
	each  map[string]float64
	judge *float64
	costs string // file
}

// register adds the flags that every command with prices has.
func (f *priceFlags) register(fs *pflag.FlagSet) {
	fs.Var(&flagValue{"", "NAME=USD", func(text string) error {
		i := strings.LastIndexByte(text, '=')
		if i < 1 {
			return fmt.Errorf("expected NAME=USD, found %q", text)
		}
		usd, err := parseUSD(text[i+1:])
		if err != nil {
			return err
		}
		if f.each == nil {
			f.each = map[string]float64{}
		}
		f.each[text[:i]] = usd
		return nil
	}}, "price", "what a candidate costs for one output in production, as `NAME=USD`, in place of what was measured; may be repeated")
	fs.Var(&flagValue{"", "USD", func(text string) error {
		usd, err := parseUSD(text)
		f.judge = &usd
		return err
	}}, "judge-price", "`USD` that an output costs with a candidate that asks a model, where that was not measured")
}

// registerFile adds the flag for the file of what was measured.
func (f *priceFlags) registerFile(fs *pflag.FlagSet) {
	fs.StringVar(&f.costs, "costs", "", "`FILE` of what candidates cost, which spade matrix and spade run write (default costs.json beside the matrix, if it exists)")
}

// budgetVar adds the flag for a budget in US dollars per output.
func budgetVar(fs *pflag.FlagSet, to **float64, usage string) {
	fs.Var(&flagValue{"", "USD", func(text string) error {
		usd, err := parseUSD(text)
		*to = &usd
		return err
	}}, "budget", usage)
}

// parseUSD reads an amount in US dollars, with or without the sign.
func parseUSD(text string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(usd >= 0) || math.IsInf(usd, 0) {
		return 0, fmt.Errorf("expected US dollars, such as 0.002, found %q", text)
	}
	return usd, nil
}

// prices finds what candidates cost. Names are those of the matrix in a file.
func (a *app) prices(f *priceFlags, candidates []proviso.Candidate, file string, names []string) (selection.Prices, error) {
	if err := selection.KnownNames("price", f.each, names); err != nil {
		return selection.Prices{}, err
	}
	name := f.costs
	if beside := filepath.Join(filepath.Dir(file), spade.CostsFile); name == "" && file != "-" {
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			name = beside
		}
	}
	var costs matrix.Costs
	if name != "" {
		data, err := a.readInput(name, holdsCosts)
		if err != nil {
			return selection.Prices{}, err
		}
		read, mistakes := matrix.ReadCosts(shownName(name), data)
		if err := a.mistakes(mistakes); err != nil {
			return selection.Prices{}, err
		}
		costs = read.Of(candidates)
	}
	return selection.PricesOf(candidates, names, f.each, costs, f.judge), nil
}
