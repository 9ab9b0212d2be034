package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// NewLabelQueue describes how to make a queue of items to label.
type NewLabelQueue struct {
	Run        string   `json:"run,omitempty" doc:"The id of a run that has ended; or else events or filter"`
	Events     []string `json:"events,omitempty" doc:"The ids of events of traffic, at most 1000"`
	Filter     string   `json:"filter,omitempty" doc:"Events of traffic, as the query of GET /v1/events; at most 1000, and only those whose texts are kept"`
	Assertions []string `json:"assertions,omitempty" doc:"Only these, by name; an empty name is the whole output. If it is missing, all that a model decides, and the whole output of events"`
	Size       int      `json:"size,omitempty" doc:"Most items; all if it is missing"`
	Random     *float64 `json:"random,omitempty" doc:"How many items are drawn at random and come first, or below 1 the share of them; 30 if it is missing"`
	Blind      *bool    `json:"blind,omitempty" doc:"Whether people do not see what the judge said; true if it is missing"`
	People     int      `json:"people,omitempty" doc:"How many people label each item; 1 if it is missing"`
}

// LabelQueue is a queue of items to label.
type LabelQueue struct {
	Name      string    `json:"name"`
	Run       string    `json:"run" doc:"Empty if its items are events"`
	Blind     bool      `json:"blind"`
	People    int       `json:"people" doc:"How many people label each item"`
	Items     int       `json:"items"`
	Done      int       `json:"done" doc:"Items that enough people labelled"`
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by,omitempty" doc:"The id of the API key"`
	// Agreement is missing in lists.
	Agreement *LabelAgreement `json:"agreement,omitempty" doc:"Of the labels of the run, or of those on its events; missing in a list"`
}

// LabelQueueList is a page of queues.
type LabelQueueList List[LabelQueue]

// LabelAgreement is the agreement of people with the judges of a run, and with each other.
type LabelAgreement struct {
	WithJudge     Kappa                `json:"with_judge" doc:"Of people, over all assertions"`
	Assertions    []AssertionAgreement `json:"assertions" doc:"The same by assertion"`
	BetweenPeople PeopleAgreement      `json:"between_people"`
}

// Kappa is the agreement of two raters on items that both decided. Unsure labels do not count.
type Kappa struct {
	N     int      `json:"n" doc:"What both decided"`
	Agree int      `json:"agree" doc:"On how many of them they agree"`
	Kappa *float64 `json:"kappa" doc:"Cohen's kappa: 1 is perfect, 0 is chance. null if all verdicts are the same, or there are none"`
	Low   *float64 `json:"low" doc:"Of its 95 % interval"`
	High  *float64 `json:"high" doc:"Of its 95 % interval"`
}

// AssertionAgreement is the agreement of people with the judges on one assertion.
type AssertionAgreement struct {
	Assertion string `json:"assertion"`
	Kappa
}

// PeopleAgreement is the agreement between people on items that several of them labelled.
type PeopleAgreement struct {
	Kappa
	Pairs []PairAgreement `json:"pairs" doc:"Of each two people, the most labels first, at most 20. With more than two people, low and high of all together are null: their pairs depend on each other"`
}

// PairAgreement is the agreement between two people.
type PairAgreement struct {
	People []string `json:"people" doc:"Two: ids of API keys, or names"`
	Kappa
}

func labelQueueRoutes() []*route {
	queue := in("queue", "The name of the queue")
	label := []store.Scope{store.Labelling}
	makers := []store.Scope{store.Evaluate, store.Labelling}
	return []*route{
		{Method: http.MethodGet, Path: "/v1/label-queues", ID: "list-label-queues", Scope: store.Read, Also: label, Status: http.StatusOK, Handle: (*Server).listLabelQueues,
			Summary: "List queues of labels by name", Params: paging, Response: typeOf[LabelQueueList]()},
		{Method: http.MethodGet, Path: "/v1/label-queues/{queue}", ID: "get-label-queue", Scope: store.Read, Also: label, Status: http.StatusOK, Handle: (*Server).getLabelQueue,
			Summary: "A queue of labels, with the agreement so far", Params: []param{queue}, Response: typeOf[LabelQueue]()},
		{Method: http.MethodPut, Path: "/v1/label-queues/{queue}", ID: "put-label-queue", Scope: store.Edit, Also: makers, Status: http.StatusOK, Asks: true, Handle: reads((*Server).putLabelQueue),
			Summary: "Make a queue of what is to be labelled in a run, or in traffic", Params: []param{queue}, Request: typeOf[NewLabelQueue](), Response: typeOf[LabelQueue](),
			Detail: "The key has to see the run. Items drawn at random come first, then those whose labels are the most informative. A queue of that name is replaced, and its leases end. 201 says that there was none."},
		{Method: http.MethodDelete, Path: "/v1/label-queues/{queue}", ID: "delete-label-queue", Scope: store.Edit, Also: makers, Status: http.StatusNoContent, Handle: (*Server).deleteLabelQueue,
			Summary: "Remove a queue", Params: []param{queue}, Detail: "The labels stay. Without the scope read, only a queue that the client made."},
		{Method: http.MethodPost, Path: "/v1/label-queues/{queue}/lease", ID: "lease-label", Scope: store.Labelling, Status: http.StatusOK, Handle: (*Server).leaseLabel,
			Summary: "Take the next item of a queue", Params: []param{queue}, Request: typeOf[LeaseRequest](), Optional: true, Response: typeOf[Lease](),
			Detail: "Nobody else gets the item until the lease ends: with a label, when it is given back, or when its time is over. 204 says that there is nothing to label for the client."},
		{Method: http.MethodDelete, Path: "/v1/label-queues/{queue}/lease/{lease}", ID: "return-label", Scope: store.Labelling, Status: http.StatusNoContent, Handle: (*Server).returnLabel,
			Summary: "Give an item back", Params: []param{queue, in("lease", "The id of the lease")}},
	}
}

func labelQueueOf(q *store.LabelQueue) LabelQueue {
	return LabelQueue{Name: q.Name, Run: q.Run, Blind: q.Blind, People: q.People, Items: q.Size, Done: q.Done, Created: q.Created.UTC(), CreatedBy: q.CreatedBy}
}

func (s *Server) listLabelQueues(c *call) error {
	page := c.q.page()
	if c.q.err != nil {
		return c.q.err
	}
	list, err := c.kept.ListLabelQueues(c.r.Context(), page)
	if err != nil {
		return err
	}
	out := LabelQueueList{Items: []LabelQueue{}, Next: list.Next}
	for i := range list.Items {
		if c.seesQueue(&list.Items[i]) {
			out.Items = append(out.Items, labelQueueOf(&list.Items[i]))
		}
	}
	return c.json(http.StatusOK, out)
}

// seesQueue reports whether the client may see a queue: any queue with the scope read or label,
// otherwise only its own.
func (c *call) seesQueue(q *store.LabelQueue) bool {
	return seesAll(c.key) || c.key.Can(store.Labelling) || q.CreatedBy == c.key.ID
}

func (s *Server) getLabelQueue(c *call) error {
	name := c.r.PathValue("queue")
	q, err := c.kept.LabelQueue(c.r.Context(), name)
	if err != nil {
		return err
	}
	if !c.seesQueue(&q) {
		return proviso.Errorf(proviso.NotFound, "there is no queue of labels %s", quotedShort(name))
	}
	out := labelQueueOf(&q)
	if out.Agreement, err = agreement(c.r.Context(), c.kept, labelsOf(&q)); err != nil {
		return err
	}
	return c.json(http.StatusOK, out)
}

// defaultRandom is the default number of items that are drawn at random.
const defaultRandom = 30

func (s *Server) putLabelQueue(c *call, in *NewLabelQueue) error {
	n := store.NewLabelQueue{Name: c.r.PathValue("queue"), Run: in.Run, People: in.People, Blind: in.Blind == nil || *in.Blind, CreatedBy: c.key.ID}
	if err := checkName(n.Name); err != nil {
		return err
	}
	if err := s.ownQueue(c, n.Name); err != nil && problemOf(err).Status != http.StatusNotFound {
		return err
	}
	o := label.Options{Assertions: in.Assertions, Size: in.Size, Random: defaultRandom, Seed: in.Run}
	switch {
	case in.Size < 0:
		return pointed("/size", proviso.Invalid, fmt.Sprintf("size has to be a number from 1, not %d", in.Size))
	case in.People < 0 || in.People > store.MaxPeople:
		return pointed("/people", proviso.Invalid, fmt.Sprintf("people has to be a number from 1 to %d, not %d", store.MaxPeople, in.People))
	case in.Random != nil && (*in.Random < 0 || *in.Random >= 1 && *in.Random != float64(int32(*in.Random))):
		return pointed("/random", proviso.Invalid, fmt.Sprintf("random has to be a whole number of items, or a share from 0 to 1, not %v", *in.Random))
	}
	var err error
	if in.Run == "" {
		n.Items, err = s.itemsOfEvents(c, in)
	} else {
		n.Items, err = s.itemsOfRun(c, in, o)
	}
	if err != nil {
		return err
	}
	q, created, err := c.kept.PutLabelQueue(context.WithoutCancel(c.r.Context()), n)
	if err != nil {
		return err
	}
	return s.kept(c, "/v1/label-queues/"+url.PathEscape(q.Name), created, labelQueueOf(&q))
}

// itemsOfRun makes items from the rows of a run.
func (s *Server) itemsOfRun(c *call, in *NewLabelQueue, o label.Options) ([]label.Item, error) {
	if in.Events != nil || in.Filter != "" {
		return nil, pointed("/run", proviso.Invalid, "send exactly one of run, events and filter")
	}
	run, err := s.seenRunOf(c, in.Run)
	if err != nil {
		return nil, err
	}
	if !run.Status.Ended() {
		return nil, proviso.Errorf(proviso.Conflict, "the run %s is not finished, it is %s; label it when it has ended", run.ID, run.Status)
	}
	return s.itemsOf(c, run, o, in.Random)
}

// itemsOf reads all rows of a run. It takes turns with others, and like a run it has no CPU
// budget.
func (s *Server) itemsOf(c *call, run store.Run, o label.Options, random *float64) ([]label.Item, error) {
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	counts, err := c.kept.CountLabels(ctx, store.LabelFilter{Run: run.ID})
	if err != nil {
		return nil, err
	}
	o.Differ = map[string]float64{}
	for _, name := range counts.Assertions() {
		if t := counts.WithJudge(name); t.N() >= leastLabels {
			o.Differ[name] = 1 - float64(t.Agree())/float64(t.N())
		}
	}
	rows, err := openStored(ctx, c.kept, run)
	if err != nil {
		return nil, err
	}
	order := label.NewOrder(o)
	for row, err := range record.Rows(rows) {
		if err != nil {
			return nil, err
		}
		order.Add(row)
	}
	if random != nil {
		order.DrawAtRandom(*random)
	}
	return order.Items()
}

// leastLabels is the smallest number of labels with which the agreement on an assertion counts.
const leastLabels = 5

// ownQueue refuses a change of a queue that the client neither made nor may see.
func (s *Server) ownQueue(c *call, name string) error {
	q, err := c.kept.LabelQueue(c.r.Context(), name)
	if err != nil {
		return err
	}
	if !seesAll(c.key) && q.CreatedBy != c.key.ID {
		return problem(codeForbidden, "another key made this queue; changing it needs the scope read, too")
	}
	return nil
}

func (s *Server) deleteLabelQueue(c *call) error {
	name := c.r.PathValue("queue")
	if err := s.ownQueue(c, name); err != nil {
		return err
	}
	return c.done(c.kept.DeleteLabelQueue(c.r.Context(), name))
}

// maxPairs limits the pairs of people in a response.
const maxPairs = 20

// labelConfidence is the confidence of all intervals.
const labelConfidence = 0.95

// labelsOf selects the labels that belong to a queue: those of its run, or those on events that
// came from the queue.
func labelsOf(q *store.LabelQueue) store.LabelFilter {
	if q.Run == "" {
		return store.LabelFilter{Events: true, Queue: q.Name}
	}
	return store.LabelFilter{Run: q.Run}
}

// agreement computes the agreement of labels.
func agreement(ctx context.Context, kept store.Labels, f store.LabelFilter) (*LabelAgreement, error) {
	counts, err := kept.CountLabels(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &LabelAgreement{WithJudge: kappaOf(counts.WithJudge("")), Assertions: []AssertionAgreement{}}
	for _, name := range counts.Assertions() {
		out.Assertions = append(out.Assertions, AssertionAgreement{Assertion: name, Kappa: kappaOf(counts.WithJudge(name))})
	}
	pairs := counts.Between()
	out.BetweenPeople = PeopleAgreement{Kappa: kappaOf(label.Together(pairs)), Pairs: []PairAgreement{}}
	if len(pairs) > 1 {
		out.BetweenPeople.Low, out.BetweenPeople.High = nil, nil
	}
	for _, p := range pairs[:min(len(pairs), maxPairs)] {
		out.BetweenPeople.Pairs = append(out.BetweenPeople.Pairs, PairAgreement{People: []string{p.A, p.B}, Kappa: kappaOf(p.Table)})
	}
	return out, nil
}

func kappaOf(t label.Table) Kappa {
	out := Kappa{N: t.N(), Agree: t.Agree()}
	if k := t.Kappa(labelConfidence); k != nil {
		out.Kappa, out.Low, out.High = &k.Value, &k.Low, &k.High
	}
	return out
}

// withoutEmpty removes empty strings.
func withoutEmpty(list []string) []string {
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}
