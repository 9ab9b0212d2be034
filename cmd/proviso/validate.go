package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newValidate(a *app) *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Find every mistake of a suite at once, without running it",
		Long: "validate reads the suite, its cases and everything they name, compiles every assertion,\n" +
			"and prints all mistakes with file, line and column: those that eval would print before\n" +
			"its first call. It asks no model, touches no network and runs no code of the suite.",
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
			counted := plural(p.Cases, "case") + ", " + plural(p.Rows, "row")
			if p.Generators > 0 {
				counted = fmt.Sprintf("%s, and those that %s when run", plural(p.Cases-p.Generators, "case"), yields(p.Generators))
			}
			if s.Unseen > 0 {
				counted += ", and those of " + plural(s.Unseen, "place") + " elsewhere, not looked at"
			}
			_, err = fmt.Fprintf(a.out, "%s is valid: %s\n", printable(p.Name()), counted)
			return err
		},
	}
	f.suiteFlags.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.noKeys, "no-keys", false, "a key that is not set, of a provider or a judge, is a warning")
	return cmd
}

// yields words how many scripts make cases.
func yields(n int) string {
	if n == 1 {
		return "1 script yields"
	}
	return fmt.Sprintf("%d scripts yield", n)
}
