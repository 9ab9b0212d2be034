package check

import (
	"context"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/sqlparser"
	"github.com/proviso-eval/proviso/value"
)

// sqlRules are the requirements of an is-sql assertion.
type sqlRules struct {
	parser  *sqlparser.Parser
	dialect string
	tables  []string // entries of allowedTables; nil if not checked
	columns []string // entries of allowedColumns; nil if not checked
	allowed sqlparser.Allowed
}

// newIsSQL is `is-sql`: the output is one or more statements of a dialect that use
// only permitted tables and columns.
func newIsSQL(c *Compiler, s *Spec) (Check, error) {
	rules, err := newSQLRules(c, s)
	if err != nil {
		return nil, err
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		reasons, err := rules.judge(ctx, sub.Text)
		if err != nil {
			return Finding{}, err
		}
		return sqlFinding(s, strings.Join(reasons, " ")), nil
	}), nil
}

// newContainsSQL is `contains-sql`: a fenced block of the output, or the whole output
// if there is none, passes is-sql.
func newContainsSQL(c *Compiler, s *Spec) (Check, error) {
	rules, err := newSQLRules(c, s)
	if err != nil {
		return nil, err
	}
	return Func(func(ctx context.Context, sub *Subject) (Finding, error) {
		blocks := sqlBlocks(sub.Text)
		if blocks == nil {
			blocks = []string{sub.Text}
		}
		reason := "Output does not contain valid SQL"
		for _, block := range blocks {
			if value.TrimSpace(block) == "" {
				continue
			}
			reasons, err := rules.judge(ctx, block)
			if err != nil {
				return Finding{}, err
			}
			if reason = strings.Join(reasons, " "); reason == "" {
				break
			}
		}
		return sqlFinding(s, reason), nil
	}), nil
}

// sqlFinding returns the finding for a text that was refused for reason, or accepted
// if reason is "".
func sqlFinding(s *Spec, reason string) Finding {
	f := found(reason == "")
	if f.Pass == s.Not {
		f.Reason = reason
		if f.Pass {
			f.Reason = "The output SQL statement is valid"
		}
	}
	return f
}

func newSQLRules(c *Compiler, s *Spec) (*sqlRules, error) {
	r := &sqlRules{parser: &c.Engines.sql, dialect: "MySQL"}
	var o *value.Object
	switch v := s.Value.(type) {
	case []any: // has none of the keys
	case *value.Object:
		o = v
	default:
		if value.Truthy(v) {
			return nil, s.badValue("an object: databaseType, allowedTables, allowedColumns")
		}
	}
	if v, ok := o.Get("databaseType"); ok && v != any(value.Undefined{}) {
		if r.dialect, ok = v.(string); !ok {
			return nil, proviso.Errorf(proviso.Invalid, "databaseType of %q must be a text, found %s", s.Type, kindOf(v))
		}
	}
	var err error
	if r.tables, err = sqlEntries(s, o, "allowedTables"); err != nil {
		return nil, err
	}
	if r.columns, err = sqlEntries(s, o, "allowedColumns"); err != nil {
		return nil, err
	}
	r.allowed = sqlparser.Allowed{Tables: r.tables, Columns: withoutTables(r.columns)}
	return r, nil
}

// sqlEntries reads a list of the value; an empty one counts as absent.
func sqlEntries(s *Spec, o *value.Object, key string) ([]string, error) {
	v := o.At(key)
	if !value.Truthy(v) {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, proviso.Errorf(proviso.Invalid, "%s of %q must be a list, found %s", key, s.Type, kindOf(v))
	}
	if len(list) == 0 {
		return nil, nil
	}
	return asTexts(list), nil
}

// withoutTables adds to each column of a table the same column without a table,
// because the parser omits the table where a statement does.
func withoutTables(columns []string) []string {
	var list []string
	for _, c := range columns {
		list = append(list, c)
		if parts := strings.Split(c, "::"); len(parts) == 3 {
			list = append(list, parts[0]+"::null::"+parts[2])
		}
	}
	return list
}

// judge returns the reasons why sql is refused; none if it is accepted.
func (r *sqlRules) judge(ctx context.Context, sql string) ([]string, error) {
	sentence := "SQL statement does not conform to the provided " + r.dialect + " database syntax."
	if value.TrimSpace(sql) == "" {
		return []string{sentence}, nil
	}
	excess, err := r.parser.Check(ctx, sql, r.dialect, r.allowed)
	var refusal *proviso.ScriptError
	var undecided *proviso.Error
	if errors.As(err, &undecided) || err != nil && !errors.As(err, &refusal) {
		return nil, err
	}
	var reasons []string
	for _, wrong := range []bool{
		strings.Count(sql, "`")%2 != 0,
		lacksComma(sql, r.dialect),
		r.dialect == "MySQL" && strings.Contains(strings.ToLower(sql), "generate_series("),
		refusal != nil,
	} {
		if wrong {
			reasons = append(reasons, sentence)
		}
	}
	reasons = appendExcess(reasons, "table", excess.Tables, r.tables, refusal)
	return appendExcess(reasons, "column", excess.Columns, r.columns, refusal), nil
}

// appendExcess adds the message about one of the two lists.
func appendExcess(reasons []string, what string, excess, allowed []string, refusal *proviso.ScriptError) []string {
	switch {
	case allowed == nil:
		return reasons
	case refusal != nil:
		return append(reasons, "SQL validation failed: "+refusal.Message+".")
	case excess == nil:
		return reasons
	}
	return append(reasons, "SQL references unauthorized "+what+"(s). Found: ["+strings.Join(excess, ", ")+
		"]. Allowed: ["+strings.Join(allowed, ", ")+"].")
}
