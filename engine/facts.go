package engine

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
)

// Facts returns the tables of assertion types and providers, for suite.Options.
func Facts() proviso.Facts {
	return proviso.Facts{Types: check.Facts(), Providers: provider.Facts()}
}
