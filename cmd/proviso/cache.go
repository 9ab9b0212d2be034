package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/dataset"
	"github.com/proviso-eval/proviso/internal/plural"
)

func newCache(a *app) *cobra.Command {
	return group("cache", "Remove cached answers of models, verdicts of judges and remote cases", "", &cobra.Command{
		Use:   "clear",
		Short: "Remove all cached answers, verdicts and remote cases",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			for _, kept := range []struct{ dir, noun string }{{a.cacheDir(keptAnswers), "answer"}, {a.cacheDir(keptVerdicts), "verdict"}, {a.cacheDir(keptCells), "matrix row"}} {
				n, err := blobs.Open(kept.dir).Clear()
				if err != nil {
					return proviso.WithCode(proviso.Unavailable, err)
				}
				if _, err := fmt.Fprintf(a.out, "Removed %s from %s\n", plural.Of(n, kept.noun), kept.dir); err != nil {
					return err
				}
			}
			n, err := dataset.Clear(a.cacheDir(keptCases))
			if err != nil {
				return proviso.WithCode(proviso.Unavailable, err)
			}
			_, err = fmt.Fprintf(a.out, "Removed %s from %s\n", plural.Of(n, "file")+" of cases", a.cacheDir(keptCases))
			return err
		},
	})
}
