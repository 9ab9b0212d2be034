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
			f.warn = true
			p, err := a.plan(cmd.Context(), s, f)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s is valid: %s, %s\n", printable(p.Name()), plural(p.Cases, "case"), plural(p.Rows, "row"))
			return err
		},
	}
	f.suiteFlags.register(cmd.Flags())
	return cmd
}
