package dataset

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// pageRows is the server's maximum number of rows per request.
const pageRows = 100

// token returns Hugging Face's token, from the variables that promptfoo reads.
func token(env proviso.Env) string {
	if env == nil {
		return ""
	}
	for _, name := range [...]string{"HF_TOKEN", "HF_API_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if v, ok := env.Lookup(name); ok && v != "" {
			return v
		}
	}
	return ""
}

// named is a dataset reference.
type named struct {
	dataset string
	query   url.Values // split, config and any other parameters
	limit   int        // rows; -1 is all
}

// parse reads huggingface://datasets/<owner>/<name>?split=&config=&limit=. The
// defaults are the split test and the configuration default, as in promptfoo.
func parse(ref string) (named, error) {
	name, text, _ := strings.Cut(strings.TrimPrefix(ref, Prefix), "?")
	n := named{dataset: strings.Trim(name, "/"), limit: -1}
	if parts := strings.Split(n.dataset, "/"); n.dataset == "" || len(parts) > 2 {
		return n, proviso.Errorf(proviso.Invalid, "expected %sOWNER/NAME, optionally with ?split=, &config= and &limit=", Prefix)
	}
	var err error
	if n.query, err = url.ParseQuery(text); err != nil {
		return n, proviso.Errorf(proviso.Invalid, "the query string is malformed")
	}
	for key, usual := range map[string]string{"split": "test", "config": "default"} {
		if !n.query.Has(key) {
			n.query.Set(key, usual)
		}
	}
	if n.query.Has("limit") {
		if n.limit, err = strconv.Atoi(n.query.Get("limit")); err != nil || n.limit < 0 {
			return n, proviso.Errorf(proviso.Invalid, "expected limit to be a number of rows, found %q", n.query.Get("limit"))
		}
	}
	n.query.Set("dataset", n.dataset)
	return n, nil
}

// rows gets a dataset page by page: one case per row, with the columns as variables. A
// page that is too large for the server is requested in halves.
func (g *Getter) rows(ctx context.Context, ref, token string) ([]byte, error) {
	n, err := parse(ref)
	if err != nil {
		return nil, err
	}
	var out []byte
	size := pageRows
	for got := 0; n.limit < 0 || got < n.limit; {
		length := size
		if n.limit >= 0 {
			length = min(length, n.limit-got)
		}
		list, total, err := g.page(ctx, n, got, length, token)
		if tooLarge(err) && length > 1 {
			size = max(1, length/2)
			continue
		}
		if err != nil {
			return nil, err
		}
		list = list[:min(len(list), length)]
		for _, v := range list {
			o, _ := v.(*value.Object)
			row, ok := o.At("row").(*value.Object)
			if !ok {
				return nil, proviso.Errorf(proviso.Unavailable, "Hugging Face returned a row that is not an object")
			}
			test := value.ObjectOf("vars", row, "options", value.ObjectOf("disableVarExpansion", true))
			if out = append(value.AppendJSON(out, test), '\n'); len(out) > maxBytes {
				return nil, proviso.Errorf(proviso.Limit, "%s is larger than the limit of %d MiB; use limit= to read fewer rows", n.dataset, maxBytes>>20)
			}
		}
		got += len(list)
		if got >= total {
			break
		}
		if len(list) == 0 {
			return nil, proviso.Errorf(proviso.Unavailable, "Hugging Face stopped after %d of %d rows", got, total)
		}
	}
	return out, nil
}

// large is the error of a page that is too large.
type large struct{ error }

func (e large) Unwrap() error { return e.error }

func tooLarge(err error) bool {
	_, ok := err.(large)
	return ok
}

// page gets some rows, and the total number.
func (g *Getter) page(ctx context.Context, n named, offset, length int, token string) (list []any, total int, err error) {
	u, err := url.Parse(g.o.Server + "/rows")
	if err != nil {
		return nil, 0, proviso.Errorf(proviso.Invalid, "the address of the server is malformed")
	}
	q := url.Values{}
	maps.Copy(q, n.query)
	q.Set("offset", strconv.Itoa(offset))
	q.Set("length", strconv.Itoa(length))
	u.RawQuery = q.Encode()
	a, err := g.ask(ctx, u, token)
	if err != nil {
		return nil, 0, err
	}
	v, err := value.ParseReply(ctx, string(a.body))
	if errors.Is(err, value.ErrTooMany) {
		return nil, 0, proviso.Errorf(proviso.Limit, "%w", err)
	}
	o, _ := v.(*value.Object)
	if a.status != http.StatusOK {
		err := a.failure()
		if said, ok := o.At("error").(string); ok {
			err = proviso.Errorf(proviso.Unavailable, "%w: %s", err, excerpt.Runes(said, 200))
		}
		if a.status == http.StatusUnprocessableEntity {
			err = large{err}
		}
		return nil, 0, err
	}
	list, ok := o.At("rows").([]any)
	count, known := o.At("num_rows_total").(float64)
	if !ok || !known {
		return nil, 0, proviso.Errorf(proviso.Unavailable, "the response of Hugging Face has no rows")
	}
	return list, int(min(count, 1<<40)), nil
}
