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
			"and prints all mistakes with file, line and column. It asks no model, touches no network\n" +
			"and runs no code of the suite.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			s, err := a.read(cmd.Context(), &f.suiteFlags)
			if err != nil {
				return err
			}
			defer s.close()
			if _, err := a.passRateOf(f, s); err != nil {
				return err
			}
			f.warn, f.dry = true, true
			p, err := a.plan(cmd.Context(), s, f)
			if err != nil {
				return err
			}
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
	return cmd
}

// yields words how many scripts make cases.
func yields(n int) string {
	if n == 1 {
		return "1 script yields"
	}
	return fmt.Sprintf("%d scripts yield", n)
}
