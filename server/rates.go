package server

import (
	"context"
	"log/slog"

	"github.com/proviso-eval/proviso/permit"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/store"
)

// SharedRates keeps what is known of the rates of endpoints in a store, for all processes
// that use it. The log tells when this process has to go on without the others; nil keeps none.
func SharedRates(r store.Rates, log *slog.Logger) throttle.SharedRates {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return sharedRates{r, log}
}

type sharedRates struct {
	rates store.Rates
	log   *slog.Logger
}

func (s sharedRates) Share(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error) {
	return s.rates.ShareRate(ctx, endpoint, a)
}

func (s sharedRates) Alone(err error, share float64) {
	switch {
	case err == nil:
		s.log.Info("the rate of a model is shared with the other processes again")
	case share > 0:
		s.log.Warn("the rate of a model cannot be shared; this process goes on with its last share", "per_minute", share*60, "error", err)
	default:
		s.log.Warn("the rate of a model cannot be shared; this process goes on by itself, as no limit is known", "error", err)
	}
}
