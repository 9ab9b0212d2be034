package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/store"
)

// readQuery reads the query parameters. Only those of the route are allowed, each once.
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
		case key == projectParam: // read by enter
		case !slices.Contains(names, key):
			return &proviso.Error{Code: proviso.Invalid, Valid: names,
				Message: fmt.Sprintf("unknown parameter %q%s", shortened(key), document.DidYouMean(key, names))}
		case len(values) > 1:
			return proviso.Errorf(proviso.Invalid, "the parameter %s is given %d times", key, len(values))
		}
	}
	c.q.Values = q
	return nil
}

// query reads query parameters. It records the first error, which the caller checks after
// reading all of them.
type query struct {
	url.Values
	err error
}

// wrong records the first mistake.
func (q *query) wrong(err error) {
	if q.err == nil {
		q.err = err
	}
}

// page reads the requested page of a list.
func (q *query) page() store.Page {
	p := store.Page{After: q.Get("after")}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > store.MaxPage {
			q.wrong(proviso.Errorf(proviso.Invalid, "limit has to be a number from 1 to %d, not %q", store.MaxPage, shortened(text)))
		}
		p.Limit = n
	}
	return p
}

// choice reads a parameter with a fixed set of values; "" if it is missing.
func choice[T ~string](q *query, name string, valid ...T) T {
	text := q.Get(name)
	if text == "" || slices.Contains(valid, T(text)) {
		return T(text)
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
	q.wrong(e)
	return ""
}

// chosen is like choice, but returns a list, which is empty if the parameter is missing.
func chosen[T ~string](q *query, name string, valid ...T) []T {
	if one := choice(q, name, valid...); one != "" {
		return []T{one}
	}
	return nil
}

// time reads a time parameter (RFC 3339); zero if it is missing.
func (q *query) time(name string) time.Time {
	text := q.Get(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.wrong(proviso.Errorf(proviso.Invalid, "%s has to be a time such as 2026-01-31T09:00:00Z, not %q", name, shortened(text)))
	}
	return t
}

// status reads the status parameter; nil if it is missing.
func (q *query) status() (list []proviso.Status) {
	for _, name := range chosen(q, "status", "pass", "fail", "error", "skip") {
		list = append(list, proviso.StatusNamed(name))
	}
	return list
}

// List is a page of a list.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// listing is a store method that lists the items that a filter selects, one page at a time.
type listing[F, T any] = func(context.Context, F, store.Page) (store.List[T], error)

// whole converts a list method without a filter into a listing.
func whole[T any](list func(context.Context, store.Page) (store.List[T], error)) listing[struct{}, T] {
	return func(ctx context.Context, _ struct{}, page store.Page) (store.List[T], error) { return list(ctx, page) }
}

// all yields the items of all pages of a list. It ends after an error.
func all[F, T any](ctx context.Context, list listing[F, T], f F) iter.Seq2[*T, error] {
	return store.All(ctx, store.By(list, f))
}

// sendList sends the requested page of a list, converted for clients. It also returns errors
// from reading the filter's parameters.
func sendList[F, T, V any](c *call, list listing[F, T], f F, view func(*T) V) error {
	page := c.q.page()
	if c.q.err != nil {
		return c.q.err
	}
	part, err := list(c.r.Context(), f, page)
	if err != nil {
		return err
	}
	out := List[V]{Items: make([]V, len(part.Items)), Next: part.Next}
	for i := range part.Items {
		out.Items[i] = view(&part.Items[i])
	}
	return c.json(http.StatusOK, out)
}
