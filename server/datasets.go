package server

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server/dataset"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// datasetRoutes returns the routes of datasets.
func datasetRoutes() []*route {
	dataset := in("dataset", "The name of the dataset")
	which := param{Name: "version", Kind: "string", Doc: "Another version than the current one: its number, or at least 8 digits of its hash"}
	format := param{Name: "format", Kind: "string", Enum: []string{"jsonl", "yaml", "csv"}, Doc: "jsonl (a case a line) if it is missing"}
	return []*route{
		{Method: http.MethodGet, Path: "/v1/datasets", ID: "list-datasets", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: listVersions(store.DatasetKind, "", datasetOf),
			Summary: "List datasets, each with its current version", Params: paging, Response: typeOf[DatasetList]()},
		{Method: http.MethodGet, Path: "/v1/datasets/{dataset}", ID: "get-dataset", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: oneOfReads((*Server).getDataset),
			Summary: "A version of a dataset, with a page of its cases", Detail: "The ETag of the answer is the hash of the version, for If-Match.",
			Params: slices.Concat([]param{dataset, which}, paging), Response: typeOf[StoredDataset]()},
		{Method: http.MethodPut, Path: "/v1/datasets/{dataset}", ID: "put-dataset", Scope: store.Edit, Status: http.StatusOK, Handle: reads((*Server).putDataset),
			Summary: "Keep cases as a dataset under this name", Detail: datasetKept, Params: []param{dataset}, Request: typeOf[NewDataset](), Response: typeOf[DatasetVersion]()},
		{Method: http.MethodDelete, Path: "/v1/datasets/{dataset}", ID: "delete-dataset", Scope: store.Edit, Status: http.StatusNoContent, Handle: (*Server).deleteDataset,
			Summary: "Remove a dataset with all its versions", Detail: "Runs keep the rows that were made with it.", Params: []param{dataset}},
		{Method: http.MethodGet, Path: "/v1/datasets/{dataset}/versions", ID: "list-dataset-versions", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: listVersions(store.DatasetKind, "dataset", datasetOf),
			Summary: "List the versions of a dataset, newest first", Params: slices.Concat([]param{dataset}, paging), Response: typeOf[DatasetList]()},
		{Method: http.MethodGet, Path: "/v1/datasets/{dataset}/diff", ID: "diff-dataset", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: oneOfReads((*Server).diffDataset),
			Summary: "Tell what changed between two versions of a dataset", Response: typeOf[DatasetDiff](),
			Detail: "Cases are paired by their id. The order of cases and of keys does not count. At most 1000 cases are listed; the counts are complete.",
			Params: []param{dataset, {Name: "from", Kind: "string", Doc: "The earlier version; the one before to if it is missing"}, {Name: "to", Kind: "string", Doc: "The later version; the current one if it is missing"}}},
		{Method: http.MethodGet, Path: "/v1/datasets/{dataset}/file", ID: "get-dataset-file", Scope: store.Read, Others: true, Status: http.StatusOK, MediaType: mediaRun, Stream: true,
			Handle: (*Server).getDatasetFile, Summary: "A version of a dataset as a file that suites read", Params: []param{dataset, which, format},
			Detail: "CSV holds texts: it is refused if a case has an assertion or a variable that a cell cannot hold."},
		{Method: http.MethodPut, Path: "/v1/datasets/{dataset}/file", ID: "put-dataset-file", Scope: store.Edit, Status: http.StatusOK, Streamed: true,
			Handle: (*Server).putDatasetFile, Summary: "Keep a file of cases as a dataset, one case a line as JSON", Params: []param{dataset},
			Detail: "It may have up to 64 MiB, more than the body of other requests. " + datasetKept, Reads: []string{mediaRun}, Response: typeOf[DatasetVersion]()},
		{Method: http.MethodPost, Path: "/v1/datasets/{dataset}/cases", ID: "add-cases", Scope: store.Edit, Status: http.StatusCreated, Handle: reads((*Server).addCases),
			Summary: "Add cases to a dataset", Detail: casesAdded, Params: []param{dataset}, Request: typeOf[NewCases](), Response: typeOf[ChangedDataset]()},
		{Method: http.MethodPost, Path: "/v1/datasets/{dataset}/remove", ID: "remove-cases", Scope: store.Edit, Status: http.StatusCreated, Handle: (*Server).removeCases,
			Summary: "Remove cases from a dataset", Detail: "This makes a new version. Earlier versions keep the cases.", Params: []param{dataset}, Request: typeOf[RemovedCases](), Response: typeOf[ChangedDataset]()},
	}
}

const datasetKept = "A case without an id gets one from its content. " + kept +
	" With If-Match, the current version has to have this hash; with If-None-Match: *, there has to be no dataset of this name; otherwise the answer is 409, and current has the version that is there."

const casesAdded = "They are the cases of the request, those of rows of a run (with a status, or by their indexes), the input and the assertions of an evaluation, or the texts of events of traffic. " +
	"Cases that were made of something and are there already are left out. This makes a new version. If-Match works as it does for PUT."

// NewDataset is the cases to store under a name.
type NewDataset struct {
	Cases []*value.Object `json:"cases" doc:"As under tests of a suite, with the keys id, description, vars, assert, threshold and metadata"`
}

// DatasetVersion is one version of a dataset.
type DatasetVersion struct {
	Version
	Cases int `json:"cases" doc:"How many it has"`
}

// StoredDataset is a version of a dataset with a page of its cases.
type StoredDataset struct {
	DatasetVersion
	Items []*value.Object `json:"items" doc:"Cases in their order"`
	Next  string          `json:"next,omitempty" doc:"What to send as after for the next page; missing on the last"`
}

// DatasetList is a page of datasets, or of versions of one.
type DatasetList List[DatasetVersion]

// ChangedDataset is the version that a change made, and what it changed.
type ChangedDataset struct {
	DatasetVersion
	Added   []string `json:"added,omitempty" doc:"The ids of the new cases, at most 1000"`
	Known   int      `json:"known,omitempty" doc:"How many cases existed already"`
	Removed int      `json:"removed,omitempty" doc:"How many cases were removed"`
	LeftOut []string `json:"left_out,omitempty" doc:"What a dataset cannot hold of the cases of a run or an evaluation, such as assertions that are code; at most 100"`
}

// mediaOfDataset returns the media type of a stored dataset: one JSON case per line. The number
// of cases is a parameter, so that lists need not read the content.
func mediaOfDataset(cases int) string {
	return mime.FormatMediaType(mediaRun, map[string]string{"cases": strconv.Itoa(cases)})
}

// casesOf returns the number of cases of a version.
func casesOf(d *store.Document) int {
	_, params, _ := mime.ParseMediaType(d.MediaType)
	n, _ := strconv.Atoi(params["cases"])
	return n
}

func datasetOf(d *store.Document) DatasetVersion { return DatasetVersion{versionOf(d), casesOf(d)} }

func (s *Server) getDataset(c *call) error {
	page := c.q.page()
	if c.q.err != nil {
		return c.q.err
	}
	version, offset := c.q.Get("version"), 0
	position, ok, err := page.Position("cases")
	if err != nil {
		return err
	}
	if ok { // later pages show the same version, even if the current one changes
		hash, at, _ := strings.Cut(position, ":")
		version = hash
		offset, _ = strconv.Atoi(at)
	}
	doc, err := s.openDataset(c, version)
	if err != nil {
		return err
	}
	out := StoredDataset{DatasetVersion: datasetOf(&doc), Items: []*value.Object{}}
	rest := doc.Content[min(max(offset, 0), len(doc.Content)):]
	size := 0
	for line := range dataset.Lines(rest) {
		if len(out.Items) == page.Size() || size >= store.MaxPageBytes {
			out.Next = store.Cursor("cases", doc.Hash+":"+strconv.Itoa(len(doc.Content)-len(rest)+size))
			break
		}
		size += len(line) + 1
		one, err := dataset.Case(line)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, one)
	}
	c.w.Header().Set("ETag", strconv.Quote(doc.Hash))
	return c.json(http.StatusOK, out)
}

// maxReads limits how many requests hold a dataset in memory at a time.
const maxReads = 4

// oneOfReads wraps a handler that holds a dataset in memory: the handler waits for one of
// [maxReads] slots.
func oneOfReads(handle func(*Server, *call) error) func(*Server, *call) error {
	return func(s *Server, c *call) error {
		select {
		case s.reads <- struct{}{}:
			defer func() { <-s.reads }()
			return handle(s, c)
		case <-c.r.Context().Done():
			return c.r.Context().Err()
		}
	}
}

// openDataset reads a version of the dataset in the address.
func (s *Server) openDataset(c *call, version string) (store.Document, error) {
	name := c.r.PathValue("dataset")
	hash, err := versionNamed(c.r.Context(), c.kept, store.DatasetKind, name, version)
	if err != nil {
		return store.Document{}, err
	}
	return c.kept.Document(c.r.Context(), store.DatasetKind, name, hash)
}

func (s *Server) putDataset(c *call, in *NewDataset) error {
	if err := checkName(c.r.PathValue("dataset")); err != nil {
		return err
	}
	b := newDatasetBuilder()
	for i, one := range in.Cases {
		b.add("/cases/"+strconv.Itoa(i), one)
	}
	if err := b.problem(c.doc); err != nil {
		return err
	}
	return s.keepDataset(c, b)
}

// keepDataset stores the built dataset under the name in the address.
func (s *Server) keepDataset(c *call, b *datasetBuilder) error {
	name := c.r.PathValue("dataset")
	replaces, err := s.precondition(c, name)
	if err != nil {
		return err
	}
	doc, created, err := s.putCases(c, name, b, replaces)
	if err != nil {
		return s.conflicting(c, name, err)
	}
	return s.kept(c, "/v1/datasets/"+url.PathEscape(doc.Name), created, datasetOf(&doc))
}

func (s *Server) putCases(c *call, name string, b *datasetBuilder, replaces *string) (store.Document, bool, error) {
	return c.kept.PutDocument(c.r.Context(), store.NewDocument{
		Kind: store.DatasetKind, Name: name, MediaType: mediaOfDataset(b.cases), Content: b.content, CreatedBy: c.key.ID, Replaces: replaces,
	})
}

func (s *Server) deleteDataset(c *call) error {
	name := c.r.PathValue("dataset")
	if _, err := versionNamed(c.r.Context(), c.kept, store.DatasetKind, name, ""); err != nil {
		return err
	}
	return c.done(c.kept.DeleteDocument(c.r.Context(), store.DatasetKind, name))
}

// precondition reads If-Match and If-None-Match. It returns the hash that the current version
// must have, "" if there must be no version, and nil if there is no condition.
func (s *Server) precondition(c *call, name string) (*string, error) {
	match, none := c.r.Header.Get("If-Match"), c.r.Header.Get("If-None-Match")
	switch {
	case match != "" && none != "" || none != "" && none != "*":
		return nil, proviso.Errorf(proviso.Invalid, "If-Match: \"HASH\" or If-None-Match: * is expected")
	case none == "*":
		return new(string), nil
	case match == "*":
		_, err := versionNamed(c.r.Context(), c.kept, store.DatasetKind, name, "")
		return nil, err
	case match == "":
		return nil, nil
	}
	hash := strings.Trim(match, `"`)
	if hash == "" {
		return nil, proviso.Errorf(proviso.Invalid, "If-Match has to be the hash of a version in quotes")
	}
	return &hash, nil
}

// conflicting adds the current version to the problem of a change that lost a conflict.
func (s *Server) conflicting(c *call, name string, err error) error {
	p := problemOf(err)
	if p.Code != proviso.Conflict {
		return err
	}
	p.Detail = "the dataset was changed meanwhile by another request"
	if now, err := c.kept.Document(c.r.Context(), store.DatasetKind, name, ""); err == nil {
		p.Current = datasetOf(&now)
		p.Detail += ": its current version is " + strconv.Itoa(now.Number)
	} else {
		p.Detail = "the dataset was removed meanwhile"
	}
	return p
}
