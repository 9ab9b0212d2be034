// Package sqlparser decides whether a text is SQL of a dialect, and which tables
// and columns it refers to. Start at [Parser].
//
// The grammars are those of node-sql-parser 5.4.0, run in JavaScript under limits
// of time and memory. A grammar is loaded for the first statement of its dialect.
package sqlparser

import (
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

//go:embed grammars/*.js.gz
var grammars embed.FS

//go:embed engine.js
var engineSource string

const (
	timeout = 5 * time.Second // for one statement
	memory  = 128 << 20       // bytes per engine

	// maxLength bounds a statement in bytes: the time to parse one may grow
	// faster than its length.
	maxLength = 1 << 20
)

// dialects are the names in their usual spelling, sorted; case does not matter.
var dialects = []string{
	"Athena", "BigQuery", "DB2", "FlinkSQL", "Hive", "MariaDB", "MySQL", "Noql",
	"PostgreSQL", "Redshift", "Snowflake", "Sqlite", "TransactSQL", "Trino",
}

// Known reports whether there is a dialect with this name, in any case.
func Known(dialect string) bool {
	return slices.ContainsFunc(dialects, func(d string) bool { return strings.EqualFold(d, dialect) })
}

// Parser parses statements. It is safe for concurrent use; the zero value is
// ready, and does no work before the first statement. See [Parser.Close].
type Parser struct {
	mu        sync.Mutex
	libraries map[string]*script.Library // by lower-case dialect
	seen      verdicts
}

// Close frees the engines that were started.
func (p *Parser) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, l := range p.libraries {
		errs = append(errs, l.Close())
	}
	clear(p.libraries)
	return errors.Join(errs...)
}

// Allowed lists what a statement may refer to: each entry is a regular expression
// (of JavaScript, without regard to case) for a whole authority. An authority of a
// table is "action::database::table", one of a column "action::table::column", with
// "null" for a missing name and "(.*)" for all columns. A nil list allows
// everything.
type Allowed struct {
	Tables, Columns []string
}

// Excess lists the tables or the columns of a statement, if any of them is not
// allowed: then it has all tables, or all columns. Both lists are nil if everything
// is allowed.
type Excess struct {
	Tables, Columns []string
}

// Parse returns nil if sql is one or more statements of the dialect; see
// [Parser.Check] for errors.
func (p *Parser) Parse(ctx context.Context, sql, dialect string) error {
	_, err := p.Check(ctx, sql, dialect, Allowed{})
	return err
}

// Check parses sql and compares its tables and columns with what is allowed. If sql
// is not SQL of the dialect, or the dialect is unknown, the error is a
// *[proviso.ScriptError] with the parser's message. For a statement that takes too
// long or is too large it is a *[proviso.Error] with the code Timeout or Limit.
func (p *Parser) Check(ctx context.Context, sql, dialect string, allowed Allowed) (Excess, error) {
	if !Known(dialect) {
		return Excess{}, &proviso.ScriptError{Name: "Error", Message: dialect + " is not supported currently"}
	}
	if len(sql) > maxLength {
		return Excess{}, proviso.Errorf(proviso.Limit, "the SQL statement is longer than %d bytes", maxLength)
	}
	k := key{strings.ToLower(dialect), sql}
	plain := allowed.Tables == nil && allowed.Columns == nil
	if plain {
		if refusal, ok := p.seen.get(k); ok {
			return Excess{}, asError(refusal)
		}
	}
	v, err := p.library(k.dialect).Call(ctx, "checkStatement", sql, list(allowed.Tables), list(allowed.Columns))
	if err != nil {
		var known *proviso.Error
		if !errors.As(err, &known) {
			err = proviso.Errorf(proviso.Undecided, "parsing SQL: %w", err)
		}
		return Excess{}, err
	}
	o, _ := v.(*value.Object)
	refusal, refused := o.At("message").(string)
	if plain || refused {
		p.seen.add(k, refusal)
	}
	return Excess{Tables: textlist.Of(o.At("tables")), Columns: textlist.Of(o.At("columns"))}, asError(refusal)
}

// asError turns the parser's message into an error; nil for "".
func asError(refusal string) error {
	if refusal == "" {
		return nil
	}
	return &proviso.ScriptError{Name: "SyntaxError", Message: refusal, Syntax: true}
}

func list(entries []string) any {
	if entries == nil {
		return nil
	}
	return entries
}

// library returns the engine of a dialect.
func (p *Parser) library(dialect string) *script.Library {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.libraries[dialect]
	if !ok {
		l = script.NewLibrary(script.LibraryOptions{
			Name:    "sql",
			Program: programs()[dialect],
			Timeout: timeout,
			Memory:  memory,
		})
		if p.libraries == nil {
			p.libraries = map[string]*script.Library{}
		}
		p.libraries[dialect] = l
	}
	return l
}

// programs are the parsers by lower-case dialect, each compiled once for all engines.
var programs = sync.OnceValue(func() map[string]*script.Program {
	all := make(map[string]*script.Program, len(dialects))
	for _, name := range dialects {
		dialect := strings.ToLower(name)
		all[dialect] = script.NewProgram(func() string { return grammar(dialect) + engineSource })
	}
	return all
})

// grammar returns the JavaScript of a dialect's parser. The files are embedded, so
// reading them does not fail; an unreadable one would not be valid JavaScript.
func grammar(dialect string) string {
	f, err := grammars.Open("grammars/" + dialect + ".js.gz")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
