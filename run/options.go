package run

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// Templates renders prompts, variables and assertion values.
type Templates interface {
	check.Templates
	// Variables returns the variable names that text uses.
	Variables(text string) []string
}

// Metrics evaluates the expressions of derived metrics.
type Metrics interface {
	// Check reports a syntax error.
	Check(expression string) error
	// Eval evaluates with the names in scope.
	Eval(ctx context.Context, expression string, scope *value.Object) (any, error)
}

// Options are the engines, limits and observers of a run. Package engine builds
// them.
type Options struct {
	Engines
	Limits
	Observers
	Task

	Version      string
	Untrusted    bool // the suite is untrusted input; Code, Files and Client must be confined, too
	LaxSchemas   bool
	PlainPrompts bool // no templates at all (PROMPTFOO_DISABLE_TEMPLATING)
	PlainJSON    bool // JSON prompts are rendered as text (PROMPTFOO_DISABLE_JSON_AUTOESCAPE)
}

// Engines are the parts that a run uses. Their creator closes them. Files, Env, Templates,
// Metrics and Open are required.
type Engines struct {
	Code      proviso.Code // nil runs no code
	Files     proviso.Files
	Env       proviso.Env
	Templates Templates
	// Included holds the files that PromptTemplates includes; nil if it includes none.
	Included *Included
	// PromptTemplates renders prompts from the suite, which may include files; nil means
	// Templates.
	PromptTemplates Templates
	Metrics         Metrics        // for derived metrics
	Checks          *check.Engines // for patterns and SQL; nil creates engines that Plan.Close closes
	Grader          proviso.Grader // nil leaves judged assertions undecided
	Judge           func() string  // identity of the grader once the plan is made, "" if it was not needed; may be nil
	Spans           proviso.Spans  // may be a [Tracer]
	// CommandTools are names of tools that run commands, besides the usual ones.
	CommandTools []string
	Client       *http.Client // for webhooks; if nil, they are undecided
	// Secrets are redacted from every stored row. If nil, nothing is redacted.
	Secrets *secrets.Set
	// Open opens the provider that a suite names.
	Open func(proviso.ProviderSpec) (proviso.Provider, error)
	// Unrecorded returns why requests can no longer be recorded, which ends the
	// run, or nil. It may be nil.
	Unrecorded func() error
}

// missing returns an error if a required engine is missing.
func (n *Engines) missing() *proviso.Error {
	for _, needed := range []struct {
		name  string
		there bool
	}{
		{"Files", n.Files != nil}, {"Env", n.Env != nil}, {"Templates", n.Templates != nil}, {"Metrics", n.Metrics != nil}, {"Open", n.Open != nil},
	} {
		if !needed.there {
			return proviso.Errorf(proviso.Internal, "a plan needs %s: package engine provides it", needed.name)
		}
	}
	return nil
}

// defaultConcurrency is the default number of rows in flight.
const defaultConcurrency = 4

// Limits bound a run.
type Limits struct {
	Concurrency int // rows in flight; 4 if 0
	Delay       time.Duration
	RowTimeout  time.Duration // 0 means no limit
	Timeout     time.Duration // 0 means no limit
}

// Observers are called during a run. Each may be nil.
type Observers struct {
	// Keep is called concurrently with each finished row. The row is valid until Keep returns.
	// An error ends the run.
	Keep func(ctx context.Context, index int, row []byte, r *proviso.Result) error
	// Tick is called after each row with the totals so far.
	Tick func(proviso.Totals)
	// Taken is called before the first row with the totals of the rows that an earlier run
	// finished, if there are any.
	Taken func(proviso.Totals)
	// Begin is called concurrently before each row; the function that it returns is called when
	// the row is done.
	Begin func(c *proviso.Case, p *proviso.ProviderSpec) (end func())
}

// Task selects the part of a suite to run, and where the run is stored.
type Task struct {
	Dir    string // folder of kept runs; "" stores the run in a temporary folder
	Folder string // absolute path of the suite, to find files next to it; "" for an untrusted suite
	RunID  string // id of the run in its rows; "" uses that of the run file

	Revision report.Revision // revision of the suite's repository, for the record

	Providers *regexp.Regexp // only providers whose id or label matches
	Prompts   *regexp.Regexp // only prompts whose id or label matches

	Replay *Replay // set if the answers are recorded

	Resume      string // run file or folder whose finished rows are reused; "" starts a new run
	RetryErrors bool   // with Resume: rows with the status error run again
	// Earlier passes the rows of an earlier attempt to take, as Keep received them. They count
	// as finished, like those of Resume. It is nil if there was no attempt.
	Earlier func(take func(index int, row []byte) error) error

	// Take takes the first part, from a row on, that no other process runs; ok is false if
	// there is none. With Take, the run has only the rows of these parts, and Earlier is not
	// used: see [Plan.Divide]. If it is nil, all rows run.
	Take func(ctx context.Context, from int) (p Part, ok bool, err error)

	// Drain ends the run gracefully once it is closed: no further row starts, and rows in
	// flight are finished and stored. The run is then incomplete. Nil never drains.
	Drain <-chan struct{}

	Dry             bool // nothing will run: generators and hooks are only compiled, and generated cases stay unknown
	SkipUnsupported bool // rows that use unsupported features are undecided
	KeysElsewhere   bool // another process sends the requests and has the keys: a key missing here is no mistake
	Warn            bool // warn about probable mistakes, such as undefined variables
}
