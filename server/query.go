package server

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/store"
)

// readQuery reads the parameters of the address. Only those of the route are allowed, each
// once.
func (c *call) readQuery() error {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return problem(codeMalformed, "the query of the address cannot be read")
	}
	var names []string
	for _, p := range c.route.Params {
		if !p.Path {
			names = append(names, p.Name)
		}
	}
	for key, values := range q {
		switch {
		case key == projectParam: // enter has read it
		case !slices.Contains(names, key):
			e := &proviso.Error{Code: proviso.Invalid, Message: "unknown parameter " + strconv.Quote(shortened(key)), Valid: names}
			if near := document.Nearest(key, names); near != "" {
				e.Message += "; did you mean " + strconv.Quote(near) + "?"
			}
			return e
		case len(values) > 1:
			return proviso.Errorf(proviso.Invalid, "the parameter %s stands there %d times", key, len(values))
		}
	}
	c.q = q
	return nil
}

// List is a page of a list.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// listOf returns a page of the store's as clients see it.
func listOf[T, V any](page store.List[T], view func(*T) V) List[V] {
	out := List[V]{Items: make([]V, len(page.Items)), Next: page.Next}
	for i := range page.Items {
		out.Items[i] = view(&page.Items[i])
	}
	return out
}

// pageOf reads the requested part of a list.
func pageOf(q url.Values) (store.Page, error) {
	p := store.Page{After: q.Get("after")}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > store.MaxPage {
			return p, proviso.Errorf(proviso.Invalid, "limit has to be a number from 1 to %d, not %q", store.MaxPage, shortened(text))
		}
		p.Limit = n
	}
	return p, nil
}

// choice reads a parameter with a fixed set of values, "" if it is missing.
func choice[T ~string](q url.Values, name string, valid ...T) (T, error) {
	text := q.Get(name)
	if text == "" || slices.Contains(valid, T(text)) {
		return T(text), nil
	}
	e := &proviso.Error{Code: proviso.Invalid}
	for _, v := range valid {
		e.Valid = append(e.Valid, string(v))
	}
	allowed, last := "", len(valid)-1
	if last > 0 {
		allowed = strings.Join(e.Valid[:last], ", ") + " or "
	}
	e.Message = name + " has to be " + allowed + e.Valid[last] + ", not " + strconv.Quote(shortened(text))
	return "", e
}

// timeOf reads a parameter that is a time (RFC 3339), zero if it is missing.
func timeOf(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, proviso.Errorf(proviso.Invalid, "%s has to be a time such as 2026-01-31T09:00:00Z, not %q", name, shortened(text))
	}
	return t, nil
}

// statusOf reads a status of rows and verdicts; nil if it is missing.
func statusOf(q url.Values) ([]proviso.Status, error) {
	text, err := choice(q, "status", "pass", "fail", "error", "skip")
	if err != nil || text == "" {
		return nil, err
	}
	return []proviso.Status{proviso.StatusNamed(text)}, nil
}
