package proviso

import (
	"net/url"
	"sort"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Facts holds the tables of assertion types and providers, for packages that cannot
// import them: package check has the type rows, package provider the provider rows. A
// package that gets no table knows no types and no providers.
type Facts struct {
	Types     Types
	Providers Providers
}

// The types that belong to the suite language itself, so that packages other than check
// can name them.
const (
	// TypeJudge is the type of an assertion with an instruction or criteria.
	TypeJudge = "judge"
	// TypeSet is the type of an assertion that only holds other assertions.
	TypeSet = "assert-set"
	// TypeText is the type of an expectation that names no type: the output must equal
	// it.
	TypeText = "equals"
)

// TypeFacts are the facts about one assertion type.
type TypeFacts struct {
	Type      string // without "not-"
	Code      bool   // its value is code
	Address   bool   // its value is a service URL, which may hold a password
	Match     Match  // what it searches for in an output
	FoldsCase bool   // case never matters
	Cell      CellFacts
}

// CellFacts describe how an expectation in a CSV cell names a type.
type CellFacts struct {
	Form      CellForm
	Threshold float64 // default threshold in a cell; 0 if the type takes none there

	// Prefixes are other ways a cell can begin, separated by blanks. Everything after the
	// prefix is the value: trimmed, or unchanged if Verbatim.
	Prefixes string
	Verbatim bool
	// Scripts are the suffixes of script files, separated by blanks. A cell such as
	// file://check.py is an expectation of this type. The value is the whole cell. With
	// BareScript it is only the file name, and a function name may follow it.
	Scripts    string
	BareScript bool
}

// CellForm is how the text after the colon of an expectation is read.
type CellForm uint8

// The ways to read the text.
const (
	CellText CellForm = iota // text with surrounding white space removed
	CellKept                 // text unchanged
	CellList                 // texts separated by commas
	CellNone                 // the type cannot be written in a cell
)

// Match is the part of an output that a type compares with its value. Reports use it to
// mark differences, and package spade to find out which assertion implies another.
type Match uint8

// The ways to compare.
const (
	MatchNone    Match = iota // nothing that can be marked
	MatchWhole                // the whole output
	MatchStart                // the beginning of the output
	MatchEnd                  // the end of the output
	MatchPart                 // any part of the output
	MatchAnyOne               // any part of the output, with any of several values
	MatchEvery                // parts of the output, with each of several values
	MatchInOrder              // parts of the output that follow each other, with several values
	MatchPattern              // any part of the output, with a regular expression
	MatchCount                // parts of the output, with a text or a regular expression
)

// Types is a table of assertion types, sorted by type.
type Types []TypeFacts

// Of returns the facts about a type, written with or without "not-"; nil if the table
// does not have it.
func (t Types) Of(name string) *TypeFacts {
	name = strings.TrimPrefix(name, "not-")
	i := search(len(t), func(i int) string { return t[i].Type }, name)
	if i < 0 {
		return nil
	}
	return &t[i]
}

// ProviderFacts are the facts about one provider.
type ProviderFacts struct {
	Name string // the id, or its beginning including the first colon
	Code bool   // it runs code or commands from the suite
	File bool   // the rest of the id names a file
	URL  bool   // the rest of the id is a URL
	// Local means that the provider computes its answers itself, without waiting: it
	// calls no model and sends nothing.
	Local bool
	// OpenEnded means that the provider runs user code or a user's service, which can do
	// anything: search, read files, run commands.
	OpenEnded bool
	Tools     ToolFormat // the format of function calls in its configuration and its answers
	// Search changes a specification so that the model searches the web, and reports
	// whether it can. It may replace the configuration but does not modify it. Nil means
	// that none of the provider's models searches.
	Search func(*ProviderSpec) bool
}

// ToolFormat is a format of function declarations and function calls.
type ToolFormat uint8

// The formats.
const (
	ToolsUnknown ToolFormat = iota
	ToolsOpenAI
	ToolsGoogle
)

// Providers is a table of providers, sorted by name.
type Providers []ProviderFacts

// Of returns the facts about the provider that an id names, and the rest of the id. facts
// is nil if the table does not have the provider.
func (p Providers) Of(id string) (facts *ProviderFacts, rest string) {
	name := id
	if i := strings.IndexByte(id, ':'); i >= 0 {
		name, rest = id[:i+1], id[i+1:]
	}
	i := search(len(p), func(i int) string { return p[i].Name }, name)
	if i < 0 {
		return nil, rest
	}
	return &p[i], rest
}

// Public returns a provider id for readers who must not see secrets. It drops the user
// name, password, query and fragment of a URL. Of a command it keeps only the program
// name, of a script only the file name, and of an id with an invalid URL only the
// beginning.
func (p Providers) Public(id string) string {
	k, rest := p.Of(id)
	kind := id[:len(id)-len(rest)]
	if k != nil && k.Code {
		return kind + programName(rest)
	}
	at := strings.Index(id, "://")
	if at < 0 {
		if k != nil && k.URL {
			return kind
		}
		return id
	}
	at = strings.LastIndexByte(id[:at], ':') + 1
	u, err := url.Parse(id[at:])
	if err != nil {
		return kind
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	return id[:at] + u.String()
}

// programName returns the first word of a command, which may be quoted, without its
// folder.
func programName(command string) string {
	command = value.TrimSpace(command)
	end := strings.IndexFunc(command, value.IsSpace)
	if command != "" && strings.ContainsRune("\"'", rune(command[0])) {
		quote := command[:1]
		command = command[1:]
		end = strings.Index(command, quote)
	}
	if end >= 0 {
		command = command[:end]
	}
	return command[strings.LastIndexAny(command, `/\`)+1:]
}

// search returns the index of a name in a sorted table of n rows, or -1. Unlike
// slices.BinarySearchFunc, it does not copy rows.
func search(n int, at func(int) string, name string) int {
	i := sort.Search(n, func(i int) bool { return at(i) >= name })
	if i == n || at(i) != name {
		return -1
	}
	return i
}
