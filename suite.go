package proviso

import "iter"

// Suite is what a suite file says, with every reference to another file
// resolved except the cases, which are streamed.
type Suite struct {
	ID          string  // agent id; "" if the file gives none
	File        string  // the first file it was read from, as the user named it
	Description string  // "" if the file gives none
	Threshold   float64 // share of the assertion set that must pass; 1 by default
	Prompts     []Prompt
	Providers   []ProviderSpec
	Judge       JudgeSpec
	Derived     []DerivedMetric
	Filters     *Object      // nunjucksFilters: name → script reference
	Extensions  []*Generator // hooks around a run and its rows
	Sandbox     Sandbox
	Env         *Object // names the suite adds to the environment, already rendered
	Tags        *Object
	Options     Options
	Tracing     Tracing
	Outputs     []string // outputPath: report files, relative to the working folder
	Config      *Object  // the configuration as read, for reports, secrets removed
	Warnings    Mistakes
	// Lenient says that the suite has promptfoo's shape: what promptfoo accepts is a
	// warning, unless it affects safety.
	Lenient bool

	// Dir is the folder that relative file references start from.
	Dir string
	// Unseen counts the references to remote cases that were not checked, because the
	// network was not to be used.
	Unseen int

	CaseSource
	Places
}

// CaseSource yields the cases of a suite.
type CaseSource interface {
	// Cases yields every case in order, defaults merged, variables expanded,
	// repeats unrolled. Each call starts anew and reads the files again, so
	// memory does not grow with the suite. An error is a *Error with a Pointer,
	// or what opening a file gave; the sequence goes on after the first kind.
	// An error comes without a case. A warning is an *Error too, with Warning
	// set; a pass that has reported it before may ignore it. A sequence in which
	// filters left no case ends with an error that says so.
	//
	// The case and what it points to must not be changed: objects and
	// assertions may be shared with other cases.
	Cases() iter.Seq2[*Case, error]
}

// CaseChecker is a [CaseSource] that can also yield the cases with mistakes, so that
// their other mistakes are found.
type CaseChecker interface {
	CaseSource
	// WithBroken returns the same cases, including those with mistakes. These have
	// Broken set and come after their mistakes were reported. They must not be run.
	WithBroken() CaseSource
}

// CaseExpander is a [CaseSource] some of whose cases may come from code.
// Without an expander each piece of code is one case that has a Generator and
// nothing else but its Pointer.
type CaseExpander interface {
	CaseSource
	// WithExpander returns a source that calls expand for each generator it
	// meets and goes on with the cases in the list that expand returns, as if
	// the suite had them there. Each pass calls it again.
	WithExpander(expand func(*Generator) (any, error)) CaseSource
}

// CaseRewriter is a [CaseSource] whose cases a hook may write anew.
type CaseRewriter interface {
	CaseSource
	// Rewritten returns a source of the cases in the list alone, written as in a
	// suite, over the defaults, an object or nil. The filters of the suite are
	// behind them already. pointer is where the suite names what wrote them, origin
	// is what it is called.
	Rewritten(tests []any, defaults *Object, pointer, origin string) CaseSource
	// Rewrite returns one case as Rewritten would, with what makes it the same case:
	// id, position, repetition. A mistake keeps it from being used.
	Rewrite(c *Case, test *Object, pointer, origin string) (*Case, error)
}

// Places turns the pointer of an [Error] into a position for people. A # at the
// end of a pointer means the key itself.
type Places interface {
	Place(pointer string) Place
}

// Options are the settings of a run that a suite can carry. A zero field means
// that the suite does not say.
type Options struct {
	MaxConcurrency int
	Repeat         int
	RepeatPass     int // how many of Repeat must pass; 0 means all
	DelayMS        int
	TimeoutMS      int // for one row
	MaxTimeMS      int // for the run
	NoCache        bool
	NoProgress     bool
	EnvFiles       []string
	Verbose        bool
	Watch          bool // run again whenever a file changes
	Table          *bool
	Write          *bool
	FilterRange    string
	Grader         string
	Threshold      *float64
	PassRate       *float64 // share of rows that must pass
}

// Sandbox is what a suite says of the code that it brings: limits, and what the
// code may use beside its arguments and the suite's folder.
type Sandbox struct {
	TimeoutMS int      // of one call; 0 is the default
	Network   bool     // hosts of any kind
	Env       []string // names of the environment
	Read      []string // files and folders, relative to the suite's folder
	Packages  bool     // what is installed for the interpreter
}

// Tracing is what a suite says of the traces of its agents. The zero value follows
// none.
type Tracing struct {
	Enabled      bool      // spans are received while the suite runs
	Host         string    // that is listened on; "" is the loopback address
	Port         *int      // 0 is a free one; nil is the usual one, or a free one if that is taken
	Formats      []string  // json, protobuf; empty is both
	Redact       []string  // parts of names of attributes whose values are removed
	MustReceive  bool      // nothing is run if spans cannot be received
	WaitMS       *int      // for spans, once a row asks for them; nil is 3 s
	CommandTools []string  // names of tools that run commands, beside the usual ones
	Files        []string  // recorded traces, relative to the suite's folder
	Forward      *Endpoint // where spans are sent on to; nil if nowhere
	Emit         *Endpoint // where verdicts are sent to as events; nil if nowhere
}

// Endpoint is where telemetry is sent to.
type Endpoint struct {
	URL     string
	Headers *Object // name → text, secrets among them
	Pointer string
}

// Prompt is one prompt of a suite before its variables are filled in.
type Prompt struct {
	ID     string
	Label  string // column name; the raw text if the suite gives none
	Raw    string // template; a chat array is JSON text
	Config *Object
	Assert []*Assertion // assertions for the answers to this prompt alone
	Script *Generator   // set if code writes the prompt; Raw is then its file name

	Pointer string
}

// ProviderSpec is what a suite says of a provider.
type ProviderSpec struct {
	ID        string // kind and model, such as "echo" or "openai:chat:gpt-5"
	Label     string // name in reports and filters; "" means ID
	Config    *Object
	Prompts   []string // labels or ids of the only prompts it gets; empty means all
	Transform string   // script applied to each output before anything else
	DelayMS   int
	Env       *Object
	Pointer   string
}

// Name returns the label, or the id if there is none.
func (p ProviderSpec) Name() string {
	if p.Label != "" {
		return p.Label
	}
	return p.ID
}

// JudgeSpec is what a suite says of who grades. A zero field means that it does
// not say.
type JudgeSpec struct {
	Panel       []ProviderSpec // one judge, or several whose votes are counted together
	Mode        string         // "batch" or "single"
	Votes       int            // how often each is asked
	Chunk       int            // criteria in one call
	Temperature *float64
	Canaries    bool // questions with a known answer ride along
}

// DerivedMetric is a number computed from the named scores of a prompt column.
type DerivedMetric struct {
	Name    string
	Value   string // mathjs expression, or a script reference
	Pointer string
}

// Generator is code that yields prompts, cases or a variable when the run
// expands it, or a hook; a suite is never executed while it is read.
type Generator struct {
	File    string // script, relative to the suite's folder, or exec: and a command
	Entry   string // exported function, "" for the default
	Config  *Object
	Pointer string
}

// Name is how messages call the code: the file, and the function if one is named.
func (g *Generator) Name() string {
	if g.Entry == "" {
		return g.File
	}
	return g.File + ":" + g.Entry
}

// Case is one set of variables with the assertions on the answers to it
// (promptfoo: a test).
type Case struct {
	ID          string // given, or a hash of the case's own content with an ordinal among equals
	Index       int    // position in the run, from 0 (promptfoo: testIdx)
	Number      int    // position among the suite's cases as written, from 0: filters, variables and repeats do not count
	Description string
	Vars        *Object
	Assert      []*Assertion
	Set         []*Assertion // the suite's assertion set (`assertions:`), scored apart
	Threshold   *float64
	Metadata    *Object
	Options     CaseOptions
	Providers   []string // labels or ids; empty means all
	Prompts     []string // labels or ids; empty means all
	Provider    any      // overrides the suite's providers: id or {id, config}
	Scoring     string   // assertScoringFunction
	Output      any      // providerOutput: graded instead of asking; meaningful if HasOutput
	HasOutput   bool
	Repeat      int     // index of this repetition, from 0
	Repeats     int     // how many repetitions the case has, at least 1
	RepeatPass  int     // how many of them must pass; 0 means all
	Raw         *Object // the merged case as reports show it
	Pointer     string

	Scripts   map[string]*Generator // variables that code computes for each prompt; Vars has their reference
	Generator *Generator            // code that yields cases in place of this one; see [CaseExpander]
	Origin    string                // the code that made the case, and its number there, for messages; "" if it is written

	Broken bool // it has mistakes, which were reported; see [CaseChecker]

	Unsupported string // why its rows stay undecided without an answer, "" if the case can run
}

// CaseOptions are the options of one case that proviso itself reads.
type CaseOptions struct {
	Prefix, Suffix   string
	Transform        string // script applied to the output, after the provider's
	TransformVars    string
	StoreOutputAs    string
	DisableTemplates bool // the variables are recorded outputs: no templates, whatever they hold
	RunSerially      bool
	Grader           any     // id or {id, config}
	RubricPrompt     any     // text, chat array or file reference
	Extra            *Object // everything else, passed on to the provider
}

// Severity says what a failing assertion means for its case.
type Severity string

// The severities. Unset and Should count as any assertion does.
const (
	Unset  Severity = ""
	Must   Severity = "must"   // fails the case whatever its threshold
	Should Severity = "should" // counts
	Info   Severity = "info"   // is reported and never counted
)

// Assertion is one promise about an output. It is not changed after reading and
// may be shared between cases.
type Assertion struct {
	ID               string
	Type             string // as written, with "not-" if negated
	Value            any    // Undefined if absent
	Threshold        any    // number or text as written; Undefined if absent
	Weight           *float64
	Metric           string
	Provider         any
	RubricPrompt     any
	Transform        string
	ContextTransform string
	Config           *Object
	Assert           []*Assertion // members of an assert-set

	Scope      *Scope
	IgnoreCase bool
	When       string // CEL over vars and metadata; "" is always
	Severity   Severity

	Instruction string      // judged assertions: what is asked for
	Criteria    []Criterion // judged assertions: the questions that decide it
	Check       *Assertion  // judged assertions: a deterministic part

	Raw     *Object // as written, for reports and for keys of one type alone
	Pointer string

	// Broken says that mistakes of the case were reported. Missing parts may follow
	// from them; other mistakes in it are independent.
	Broken bool
}

// Scope narrows an assertion to a part of the output, or to each of its parts.
type Scope struct {
	Of    string // "output" (default) or "prompt"
	From  string // heading or marker that a section begins after; "" is the beginning
	To    string // marker that it ends before; "" is the end
	Each  string // "", "line", "item", "paragraph" or "sentence"
	Match string // with Each: "all" (default), "any" or "none" of them
}
