package proviso

import (
	"iter"

	"github.com/proviso-eval/proviso/value"
)

// Suite is the content of a suite file. Every reference to another file is resolved,
// except the cases, which are streamed.
type Suite struct {
	ID          string  // agent id; "" if the file gives none
	File        string  // the first file, as the user named it
	Description string  // "" if the file gives none
	Threshold   float64 // share of the assertion set that must pass; 1 by default
	Prompts     []Prompt
	Providers   []ProviderSpec
	Judge       JudgeSpec
	Derived     []DerivedMetric
	Filters     *value.Object // nunjucksFilters: name → script reference
	Extensions  []*Generator  // hooks around a run and its rows
	Sandbox     Sandbox
	Env         *value.Object // environment variables from the suite, already rendered
	Tags        *value.Object
	Options     Options
	Tracing     Tracing
	Gate        *GateRules    // nil if the suite has none
	Outputs     []string      // outputPath: report files, relative to the working folder
	Config      *value.Object // the configuration as read, without secrets, for reports
	Warnings    Mistakes
	// Lenient is set if the suite has promptfoo's shape: a construct that promptfoo
	// accepts is then only a warning, unless it affects safety.
	Lenient bool

	// Dir is the folder that relative file references are resolved against.
	Dir string
	// Datasets are the datasets that the cases come from, in reference order. The same
	// dataset may occur twice.
	Datasets []Dataset
	// Unseen counts the references to remote cases that were not checked because the
	// network was not used, and to datasets that were not found.
	Unseen int

	CaseSource
	Places
}

// Dataset is a version of a dataset: cases that a server keeps under a name.
type Dataset struct {
	Name    string
	Version string // content hash of the version
	Number  int    // version number, from 1
	Asked   string // version in the reference; "" if it has none and the current version was used
}

// CaseSource yields the cases of a suite.
type CaseSource interface {
	// Cases yields every case in order, with defaults merged, variables expanded and
	// repeats unrolled. Each call reads the files again, so that memory does not grow
	// with the suite. An error comes without a case. It is a *Error with a Pointer, after
	// which the sequence continues, or the error from opening a file. A warning is also a
	// *Error, with Warning set; a pass may omit warnings that an earlier pass reported.
	// If filters leave no case, the sequence ends with an error.
	//
	// The case and everything it points to must not be changed: objects and assertions
	// may be shared with other cases.
	Cases() iter.Seq2[*Case, error]
}

// CaseChecker is a [CaseSource] that can also yield the cases with mistakes, so that
// further mistakes in them are found.
type CaseChecker interface {
	CaseSource
	// WithBroken returns the same cases, including those with mistakes. These have Broken
	// set and follow the reports of their mistakes. They must not be run.
	WithBroken() CaseSource
}

// CaseExpander is a [CaseSource] that may contain cases from code. Without an expander,
// each piece of code is one case that has only a Generator and a Pointer.
type CaseExpander interface {
	CaseSource
	// WithExpander returns a source that calls expand for each generator and yields the
	// cases in the returned list as if they were in the suite. Each pass calls expand
	// again.
	WithExpander(expand func(*Generator) (any, error)) CaseSource
}

// CaseRewriter is a [CaseSource] whose cases a hook may rewrite.
type CaseRewriter interface {
	CaseSource
	// Rewritten returns a source of only the cases in the list tests, written as in a
	// suite. defaults, an object or nil, are merged into them. The suite's filters are
	// not applied again. pointer is the place in the suite of the code that wrote the
	// cases, and origin is its name.
	Rewritten(tests []any, defaults *value.Object, pointer, origin string) CaseSource
	// Rewrite returns one case as Rewritten would, with the same identity: id, position,
	// repetition. A case with a mistake is not used.
	Rewrite(c *Case, test *value.Object, pointer, origin string) (*Case, error)
}

// Places turns an [Error]'s pointer into a position for people. A # at the end of a
// pointer means the key itself.
type Places interface {
	Place(pointer string) Place
}

// Options are the run settings that a suite can have. A zero field means that the suite
// does not set it.
type Options struct {
	MaxConcurrency int
	Repeat         int
	RepeatPass     int // number of repeats that must pass; 0 means all
	DelayMS        int
	TimeoutMS      int // limit for one row
	MaxTimeMS      int // limit for the whole run
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

// Sandbox holds the suite's settings for its code: limits, and permissions beyond the
// arguments and the suite's folder.
type Sandbox struct {
	TimeoutMS int      // limit for one call; 0 means the default
	Network   bool     // access to any host
	Env       []string // names of environment variables
	Read      []string // files and folders, relative to the suite's folder
	Packages  bool     // access to the interpreter's installed packages
}

// Tracing holds the suite's settings for its agents' traces. The zero value disables
// tracing.
type Tracing struct {
	Enabled      bool      // receive spans while the suite runs
	Host         string    // address to listen on; "" means the loopback address
	Port         *int      // 0 means any free port; nil means the default port, or a free one if it is taken
	Formats      []string  // json, protobuf; empty means both
	Redact       []string  // attributes whose names contain one of these have their values removed
	MustReceive  bool      // the run does not start if spans cannot be received
	WaitMS       *int      // how long to wait for spans when a row needs them; nil means 3 s
	CommandTools []string  // names of tools that run commands, besides the known ones
	Files        []string  // recorded traces, relative to the suite's folder
	Forward      *Endpoint // where spans are forwarded; nil if nowhere
	Emit         *Endpoint // where verdicts are sent as events; nil if nowhere
}

// Endpoint is a receiver of telemetry.
type Endpoint struct {
	URL     string
	Headers *value.Object // name → text, including secrets
	Pointer string
}

// Prompt is one prompt of a suite before its variables are filled in.
type Prompt struct {
	ID     string
	Label  string // column name; the raw text if the suite gives none
	Raw    string // template; a chat array is JSON text
	Config *value.Object
	Assert []*Assertion // assertions on the answers to this prompt only
	Script *Generator   // set if code writes the prompt; Raw is then its file name

	Pointer string
}

// ProviderSpec is the suite's description of a provider.
type ProviderSpec struct {
	ID        string // kind and model, such as "echo" or "openai:chat:gpt-5"
	Label     string // name in reports and filters; "" means ID
	Config    *value.Object
	Prompts   []string // labels or ids of the only prompts the provider receives; empty means all
	Transform string   // script applied to each output before any other
	DelayMS   int
	Env       *value.Object
	Pointer   string
}

// Name returns the label, or the id if there is none.
func (p ProviderSpec) Name() string {
	if p.Label != "" {
		return p.Label
	}
	return p.ID
}

// JudgeSpec is the suite's description of the judge. A zero field means that the
// suite does not set it.
type JudgeSpec struct {
	Panel       []ProviderSpec // one judge, or several whose votes are counted together
	Mode        string         // "batch" or "single"
	Votes       int            // number of votes per judge
	Chunk       int            // criteria per call
	Temperature *float64
	Canaries    bool // add questions with a known answer
}

// DerivedMetric is a number computed from the named scores of a prompt column.
type DerivedMetric struct {
	Name    string
	Value   string // mathjs expression, or a script reference
	Pointer string
}

// Generator is a hook, or code that yields prompts, cases or a variable when the run
// expands it. Reading a suite never runs the code.
type Generator struct {
	File    string // script, relative to the suite's folder, or exec: followed by a command
	Entry   string // exported function, "" for the default
	Config  *value.Object
	Pointer string
}

// Name returns the name for messages: the file, and the function if one is named.
func (g *Generator) Name() string {
	if g.Entry == "" {
		return g.File
	}
	return g.File + ":" + g.Entry
}

// Case is one set of variables with the assertions on the answers to it
// (promptfoo: a test).
type Case struct {
	ID          string // as given, or a hash of the case's own content with a number to tell equal cases apart
	Index       int    // position in the run, from 0 (promptfoo: testIdx)
	Number      int    // position among the suite's cases as written, from 0, regardless of filters, variables and repeats
	Description string
	Vars        *value.Object
	Assert      []*Assertion
	Set         []*Assertion // the suite's assertion set (`assertions:`), scored separately
	Threshold   *float64
	Metadata    *value.Object
	Options     CaseOptions
	Providers   []string // labels or ids; empty means all
	Prompts     []string // labels or ids; empty means all
	Provider    any      // overrides the suite's providers: id or {id, config}
	Scoring     string   // assertScoringFunction
	Output      any      // providerOutput: graded instead of asking a provider; valid if HasOutput
	HasOutput   bool
	Repeat      int           // index of this repetition, from 0
	Repeats     int           // number of repetitions of the case, at least 1
	RepeatPass  int           // number of repetitions that must pass; 0 means all
	Raw         *value.Object // the merged case, for reports
	Pointer     string

	Scripts   map[string]*Generator // variables that code computes for each prompt; Vars holds the references
	Generator *Generator            // code that yields cases in place of this one; see [CaseExpander]
	Origin    string                // for messages: the code that made the case, and the case's number in its list; "" if it is written in the suite

	Broken bool // mistakes in it were reported; see [CaseChecker]

	Unsupported string // why its rows remain undecided without an answer; "" if the case can run
}

// CaseOptions are the options of one case that proviso itself uses.
type CaseOptions struct {
	Prefix, Suffix   string
	Transform        string // script applied to the output after the provider's transform
	TransformVars    string
	StoreOutputAs    string
	DisableTemplates bool // the variables are recorded outputs: templates in them are not rendered
	RunSerially      bool
	Grader           any           // id or {id, config}
	RubricPrompt     any           // text, chat array or file reference
	Extra            *value.Object // everything else, passed on to the provider
}

// Severity is what a failing assertion means for its case.
type Severity string

// The severities. Unset and Should count in the ordinary way.
const (
	Unset  Severity = ""
	Must   Severity = "must"   // fails the case regardless of its threshold
	Should Severity = "should" // counts
	Info   Severity = "info"   // is reported but never counted
)

// Assertion is one requirement on an output. It is not changed after reading and may
// be shared between cases.
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
	Config           *value.Object
	Assert           []*Assertion // members of an assert-set

	Scope      *Scope
	IgnoreCase bool
	WholeWords bool   // the value matches only at word boundaries
	When       string // CEL over vars and metadata; "" means always
	Severity   Severity

	Instruction string      // judged assertions: the requirement
	Criteria    []Criterion // judged assertions: the questions that decide it
	Check       *Assertion  // judged assertions: the deterministic part

	Raw     *value.Object // as written, for reports and for keys that only one type has
	Pointer string

	// Broken means that mistakes in the assertion were reported. Missing parts may be a
	// consequence of them; other mistakes in the assertion are independent.
	Broken bool
}

// Scope narrows an assertion to a part of the output, or to each of its parts.
type Scope struct {
	Of    string // "output" (default) or "prompt"
	From  string // heading or marker after which the section begins; "" means the beginning
	To    string // marker before which the section ends; "" means the end
	Each  string // "", "line", "item", "paragraph" or "sentence"
	Match string // with Each: "all" (default), "any" or "none" of the parts
}
