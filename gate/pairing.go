package gate

import (
	"cmp"
	"slices"
)

// caseKey identifies a case within a column.
type caseKey struct {
	id, vars string // exactly one of them is set
	ordinal  int    // position among the cases with equal id or variables
}

// caseRows are the rows of one case in one column.
type caseRows struct {
	key  caseKey
	rows []*Row // one for each repeat
}

// pairRows are the rows of a case in a pair of columns. One side is nil if it lacks the
// case.
type pairRows struct {
	column     int
	base, head *caseRows
}

// first returns a row of the pair, from head if possible.
func (p pairRows) first() *Row {
	if p.head != nil {
		return p.head.rows[0]
	}
	return p.base.rows[0]
}

// pairColumns pairs columns by their labels. If each run has a single prompt, its label
// is ignored, and likewise for a single provider: a prompt without a label is identified
// by its text, and the purpose of a comparison is to change that text. Equal labels are
// paired in order.
func pairColumns(base, head *Run) (pairs [][2]int, onlyBase, onlyHead []Column) {
	prompt := func(c Column) string { return c.Prompt }
	provider := func(c Column) string { return c.Provider }
	onePrompt := single(base, prompt) && single(head, prompt)
	oneProvider := single(base, provider) && single(head, provider)
	key := func(c Column) Column {
		if onePrompt {
			c.Prompt = ""
		}
		if oneProvider {
			c.Provider = ""
		}
		return c
	}
	waiting := map[Column][]int{}
	for i, c := range head.Columns {
		waiting[key(c)] = append(waiting[key(c)], i)
	}
	paired := make([]bool, len(head.Columns))
	for i, c := range base.Columns {
		list := waiting[key(c)]
		if len(list) == 0 {
			onlyBase = append(onlyBase, c)
			continue
		}
		pairs = append(pairs, [2]int{i, list[0]})
		paired[list[0]] = true
		waiting[key(c)] = list[1:]
	}
	for i, c := range head.Columns {
		if !paired[i] {
			onlyHead = append(onlyHead, c)
		}
	}
	return pairs, onlyBase, onlyHead
}

// single reports whether all columns have the same label.
func single(r *Run, label func(Column) string) bool {
	return !slices.ContainsFunc(r.Columns, func(c Column) bool { return label(c) != label(r.Columns[0]) })
}

// casesOf returns the cases of each column in order of their first row.
func casesOf(r *Run) [][]*caseRows {
	type repeatKey struct {
		column   int
		id, vars string
		repeat   int
	}
	type columnKey struct {
		column int
		caseKey
	}
	seen := make(map[repeatKey]int, len(r.Rows))
	index := make(map[columnKey]*caseRows, len(r.Rows))
	list := make([][]*caseRows, len(r.Columns))
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Column < 0 || row.Column >= len(list) {
			continue
		}
		key := caseKey{id: row.Case.ID}
		if key.id == "" {
			key.vars = row.Case.Vars
		}
		repeat := repeatKey{row.Column, key.id, key.vars, row.Case.Repeat}
		key.ordinal = seen[repeat]
		seen[repeat]++
		c := index[columnKey{row.Column, key}]
		if c == nil {
			c = &caseRows{key: key}
			index[columnKey{row.Column, key}] = c
			list[row.Column] = append(list[row.Column], c)
		}
		c.rows = append(c.rows, row)
	}
	return list
}

// pairCases pairs the cases of two columns by id, otherwise by variables. A case that
// gained or lost its id also pairs by its variables. Pairs are in the order of head,
// followed by the cases that only base has.
func pairCases(column int, base, head []*caseRows) []pairRows {
	index := make(map[caseKey]*caseRows, len(base))
	for _, c := range base {
		index[c.key] = c
	}
	pairs := make([]pairRows, 0, len(head))
	taken := make(map[*caseRows]bool, len(head))
	for _, c := range head {
		b := index[c.key]
		if b != nil {
			taken[b] = true
		}
		pairs = append(pairs, pairRows{column, b, c})
	}
	type likeness struct {
		vars  string
		hasID bool
	}
	rest := map[likeness][]*caseRows{}
	for _, c := range base {
		if !taken[c] {
			key := likeness{c.rows[0].Case.Vars, c.key.id != ""}
			rest[key] = append(rest[key], c)
		}
	}
	for i, p := range pairs {
		key := likeness{vars: p.head.rows[0].Case.Vars}
		if p.base != nil || key.vars == "" {
			continue
		}
		if len(rest[key]) == 0 {
			key.hasID = p.head.key.id == ""
		}
		if list := rest[key]; len(list) > 0 {
			pairs[i].base, rest[key] = list[0], list[1:]
			taken[list[0]] = true
		}
	}
	for _, c := range base {
		if !taken[c] {
			pairs = append(pairs, pairRows{column, c, nil})
		}
	}
	return pairs
}

// clusterer numbers the clusters of pairs. The same case in several columns is one
// cluster.
type clusterer struct {
	index map[clusterKey]int
}

type clusterKey struct {
	name string
	caseKey
}

func (c *clusterer) of(p pairRows) int {
	key := clusterKey{name: cmp.Or(p.base.rows[0].Case.Cluster, p.head.rows[0].Case.Cluster)}
	if key.name == "" {
		key.caseKey = p.base.key
	}
	n, ok := c.index[key]
	if !ok {
		n = len(c.index)
		c.index[key] = n
	}
	return n
}
