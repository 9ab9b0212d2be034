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

// Offer describes what a process can execute. The zero value can execute everything.
type Offer struct {
	Kind    string // kind of process, such as "server" or "worker"
	Version string // proviso version
	// Can reports whether the process meets a need of a run: see [NewRun.Needs]. It is called
	// concurrently. A nil Can meets every need.
	Can func(need string) bool
	// Only is a need that a run must have for the process to take it; "" takes all runs.
	Only string
	// Fit returns why the process can take no run now, such as a full disk, or "" if it can. It
	// is called often, but not concurrently. A nil Fit always can.
	Fit func() string
	// Known lists common needs. Those that the process meets are shown to people.
	Known []string
}

// Process is a process that executes runs.
type Process struct {
	ID      string
	Kind    string   // see [Offer]
	Version string   // see [Offer]
	Jobs    int      // maximum number of concurrent runs
	Can     []string // needs that it meets, among its known needs and those of current runs; sorted
	All     bool     // it meets every need
	Only    string   // see [Offer]
	Unfit   string   // why it takes no runs now; "" if it does
	Started time.Time
	Seen    time.Time // time of the last heartbeat
}

// Able reports whether the process takes runs and meets all needs.
func (p *Process) Able(needs []string) bool { return p.Unfit == "" && p.has(needs) }

// has reports whether the process meets all needs, whether or not it is fit now.
func (p *Process) has(needs []string) bool {
	return p.serves(needs) && (p.All || !slices.ContainsFunc(needs, func(need string) bool { return !slices.Contains(p.Can, need) }))
}

// serves reports whether [Process.Only] allows runs with these needs.
func (p *Process) serves(needs []string) bool { return p.Only == "" || slices.Contains(needs, p.Only) }

// Limits of the needs of a run.
const (
	MaxNeeds    = 50  // needs of a run
	MaxNeedText = 300 // bytes of a need
)

// CheckNeeds returns why the needs of a run are invalid, or nil.
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

// WaitsFor describes what a queued run waits for, given the live processes. It returns "" if
// one of them can execute the run.
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
	var missing []string // needs that no process meets
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

// unfitInWords describes why the processes that meet all needs take no runs.
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

// inWords lists needs. A need that contains "or" is set off by commas.
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

// unable marks a [Work] error of a process that does not meet a need of the run.
type unable struct {
	needs []string
	why   string // "" if it lacks the needs
}

func (u unable) Error() string {
	if u.why != "" {
		return u.why
	}
	return "this process has no " + inWords(u.needs)
}

// Unable returns the [Work] error of a process that finds that it does not meet some needs of a
// run. It does not count as an attempt. The needs are added to the run, and for a while this
// process leaves every run with one of them to others.
func Unable(needs ...string) error { return unable{needs: needs} }

// Refused is like [Unable], for a process that has a key for the need, but whose key is
// refused.
func Refused(need string) error {
	return unable{[]string{need}, "the key of this process is refused: " + need}
}

// UnableTo returns the needs of an [Unable] error, or nil if it is another error.
func UnableTo(err error) []string {
	var u unable
	errors.As(err, &u)
	return u.needs
}

// unfit marks a [Work] error of a process that can execute nothing for now.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unfit marks a [Work] error because of which the process can execute no run for now, such as a
// full disk. It does not count as an attempt: the run is given back, and this process takes no
// runs for a while. Clients see the text.
func Unfit(err error) error { return unfit{err} }

// UnfitFor returns the text of an [Unfit] error, or "" if it is another error.
func UnfitFor(err error) string {
	var u unfit
	if errors.As(err, &u) {
		return u.Error()
	}
	return ""
}
