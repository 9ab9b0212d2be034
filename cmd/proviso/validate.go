package main

import (
	"fmt"

	"github.com/proviso-eval/proviso/internal/plural"

	"github.com/spf13/cobra"
)

func newValidate(a *app) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Find every mistake of a suite at once, without running it",
		Long: "validate reads the suite, its cases and everything they name, compiles every assertion,\n" +
			"and prints all mistakes with file, line and column: those that eval would print before\n" +
			"its first call. It calls no model, uses no network and runs no code of the suite.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			f.warn, f.dry = true, true
			s, p, err := a.prepare(cmd.Context(), f, nil)
			if err != nil {
				return err
			}
			defer s.close()
			counted := plural.Of(p.Cases, "case") + ", " + plural.Of(p.Rows, "row")
			if p.Generators > 0 {
				counted = fmt.Sprintf("%s, and those that %s when run", plural.Of(p.Cases-p.Generators, "case"), yields(p.Generators))
			}
			if s.Unseen > 0 {
				counted += "; remote cases at " + plural.Of(s.Unseen, "place") + " were not checked"
			}
			_, err = fmt.Fprintf(a.out, "%s is valid: %s\n", printable(p.Name()), counted)
			return err
		},
	}
	f.suiteFlags.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.noKeys, "no-keys", false, "report a missing API key of a provider or a judge as a warning")
	return cmd
}

// yields returns the words for how many scripts generate cases.
func yields(n int) string {
	if n == 1 {
		return "1 script yields"
	}
	return fmt.Sprintf("%d scripts yield", n)
}
