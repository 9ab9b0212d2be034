package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/proviso-eval/proviso"
)

// Offer is what a process offers to do. The zero value can do everything.
type Offer struct {
	Kind    string // what the process is, such as "server" or "worker"
	Version string // of proviso
	// Can reports whether the process can do what a run needs: see [NewRun.Needs]. It is
	// called concurrently. Nil can do everything.
	Can func(need string) bool
	// Only is what a run has to need for the process to take it; "" takes runs whatever they
	// need.
	Only string
	// Fit says in words why the process can take no run now, such as because its disk is full;
	// "" if it can. It is called often, and not concurrently. Nil always can.
	Fit func() string
	// Known is what runs often need. The part of it that the process can do is shown to
	// people.
	Known []string
}

// Process is a process that executes runs.
type Process struct {
	ID      string
	Kind    string   // as of [Offer]
	Version string   // as of [Offer]
	Jobs    int      // runs that it executes at a time
	Can     []string // of what is known, and of what runs need now; sorted
	All     bool     // it can do everything
	Only    string   // as of [Offer]
	Unfit   string   // why it takes no run now, whatever that needs; "" if it does
	Started time.Time
	Seen    time.Time // when it last said that it goes on
}

// Able reports whether the process takes runs, and can do all of some needs.
func (p *Process) Able(needs []string) bool { return p.Unfit == "" && p.has(needs) }

// has reports whether the process can do all of some needs once it is fit.
func (p *Process) has(needs []string) bool {
	return p.serves(needs) && (p.All || !slices.ContainsFunc(needs, func(need string) bool { return !slices.Contains(p.Can, need) }))
}

// serves reports whether runs with some needs are among those that the process is for.
func (p *Process) serves(needs []string) bool { return p.Only == "" || slices.Contains(needs, p.Only) }

// Limits of the needs of a run.
const (
	MaxNeeds    = 50  // of a run
	MaxNeedText = 300 // bytes of one
)

// CheckNeeds returns why a run cannot have needs, or nil.
func CheckNeeds(needs []string) error {
	if len(needs) > MaxNeeds {
		return proviso.Errorf(proviso.Limit, "the run needs %d things, more than %d", len(needs), MaxNeeds)
	}
	for _, need := range needs {
		if need == "" || len(need) > MaxNeedText || strings.ToValidUTF8(need, "") != need || strings.ContainsFunc(need, unicode.IsControl) {
			return proviso.Errorf(proviso.Invalid, "what a run needs is a text of up to %d bytes without control characters, not %q", MaxNeedText, need[:min(len(need), MaxNeedText)])
		}
	}
	return nil
}

// WaitsFor says in words what a queued run waits for, given the processes that live; "" if
// one of them can do what it needs.
func WaitsFor(needs []string, living []Process) string {
	if len(living) == 0 {
		return "waits for a worker: none is running"
	}
	if slices.ContainsFunc(living, func(p Process) bool { return p.Able(needs) }) {
		return ""
	}
	all := living
	living = slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return !p.serves(needs) })
	if len(living) == 0 {
		return "waits for a worker that asks models; all that are running use " + all[0].Only
	}
	if slices.ContainsFunc(living, func(p Process) bool { return p.has(needs) }) {
		return "waits for a worker: " + unfitInWords(living, needs)
	}
	var missing []string // that nobody has
	for _, need := range needs {
		if !slices.ContainsFunc(living, func(p Process) bool { return p.All || slices.Contains(p.Can, need) }) {
			missing = append(missing, need)
		}
	}
	if len(missing) == 0 {
		return "waits for one worker with " + inWords(needs) + ": none has all of it"
	}
	return "waits for a worker with " + inWords(missing)
}

// unfitInWords says why processes with all of some needs take no runs.
func unfitInWords(living []Process, needs []string) string {
	n, reasons := 0, []string(nil)
	for i := range living {
		if !living[i].has(needs) {
			continue
		}
		if n++; !slices.Contains(reasons, living[i].Unfit) {
			reasons = append(reasons, living[i].Unfit)
		}
	}
	who := "the one that can do this takes no runs: "
	if n > 1 {
		who = fmt.Sprintf("the %d that can do this take no runs: ", n)
	}
	return who + strings.Join(reasons, "; ")
}

// inWords lists needs. Between those with an "or" in them stand commas.
func inWords(needs []string) string {
	if len(needs) < 2 {
		return strings.Join(needs, "")
	}
	last, and := len(needs)-1, " and "
	if slices.ContainsFunc(needs, func(need string) bool { return strings.Contains(need, " or ") }) {
		and = ", and "
	}
	return strings.Join(needs[:last], ", ") + and + needs[last]
}

// unable marks an error of [Work] of a process that cannot do what a run needs.
type unable struct {
	needs []string
	why   string // "" if it lacks them
}

func (u unable) Error() string {
	if u.why != "" {
		return u.why
	}
	return "this process has no " + inWords(u.needs)
}

// Unable is the error of [Work] of a process that finds out that it cannot do what a run
// needs. It is no attempt: the run needs these things from then on, and this process leaves
// every run that needs one of them to others for a while.
func Unable(needs ...string) error { return unable{needs: needs} }

// Refused is [Unable] of a process that has what a run needs, and whose key is refused.
func Refused(need string) error {
	return unable{[]string{need}, "the key of this process is refused: " + need}
}

// UnableTo returns what a process lacks if an error is one of [Unable]; nil if it is not.
func UnableTo(err error) []string {
	var u unable
	errors.As(err, &u)
	return u.needs
}

// unfit marks an error of [Work] of a process that can execute nothing for now.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unfit marks an error of [Work] because of which the process can execute no run for now,
// such as a full disk. It is no attempt: the run is given back, and this process takes no runs
// for a while. The text is shown to clients.
func Unfit(err error) error { return unfit{err} }

// UnfitFor returns why a process can execute nothing if an error is one of [Unfit]; "" if it
// is not.
func UnfitFor(err error) string {
	var u unfit
	if errors.As(err, &u) {
		return u.Error()
	}
	return ""
}
