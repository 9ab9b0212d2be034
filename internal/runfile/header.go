package runfile

import (
	"errors"
	"fmt"
	"time"

	"github.com/proviso-eval/proviso/value"
)

// format is the version of the file format; a reader refuses later ones.
const format = 1

// lastYear is the latest year in which a run can start.
const lastYear = 9000

// Header describes the input of a run.
type Header struct {
	ID      string        // set by [Create] if empty
	Version string        // proviso version
	Suite   string        // description of the suite, or its file name
	Hash    string        // hash of suite, prompts and judge: runs with equal hashes are comparable
	Started time.Time     // the zero time means now, for [Create]
	Options *value.Object // options of the run, including defaults; nil if there are none
	Meta    *value.Object // other data for reports; nil if there is none
}

// Line returns the first line of a run file, with its line break.
func (h *Header) Line() []byte {
	o := value.ObjectOf(
		"proviso", "run",
		"format", float64(format),
		"id", h.ID,
		"version", h.Version,
		"suite", h.Suite,
		"hash", h.Hash,
		"started", h.Started.Format(time.RFC3339Nano),
	)
	if h.Options != nil {
		o.Set("options", h.Options)
	}
	if h.Meta != nil {
		o.Set("meta", h.Meta)
	}
	return append(value.AppendJSON(nil, o), '\n')
}

var errNotRun = errors.New("not a run file: the first line is not the header of a run")

func parseHeader(line string) (Header, error) {
	v, err := value.ParseJSON(line)
	o, ok := v.(*value.Object)
	if err != nil || !ok || o.At("proviso") != "run" {
		return Header{}, errNotRun
	}
	if n, ok := o.At("format").(float64); !ok || n > format {
		return Header{}, fmt.Errorf("run file has format %s, this version of proviso reads up to %d",
			value.ToString(o.At("format")), format)
	}
	h := Header{}
	for key, field := range map[string]*string{"id": &h.ID, "version": &h.Version, "suite": &h.Suite, "hash": &h.Hash} {
		*field, _ = o.At(key).(string)
	}
	h.Options, _ = o.At("options").(*value.Object)
	h.Meta, _ = o.At("meta").(*value.Object)
	started := o.Text("started")
	if h.Started, err = time.Parse(time.RFC3339Nano, started); err != nil {
		return Header{}, errNotRun
	}
	// RFC 3339 has four-digit years. The end of the run, and the time in another time zone,
	// must fit, too.
	if year := h.Started.UTC().Year(); year < 1 || year > lastYear {
		return Header{}, fmt.Errorf("run file started in the year %d, expected one from 1 to %d", year, lastYear)
	}
	if !isPlain(h.ID) {
		h.ID = ContentID(h.Started, line)
	}
	return h, nil
}
