package server

import (
	"net/http"
	"slices"

	"github.com/proviso-eval/proviso/store"
)

// watchRoutes are the routes about watches and what they know.
func watchRoutes() []*route {
	watch := in("watch", "The name of the watch")
	from := param{Name: "from", Kind: "string", Doc: "Where the range begins, by the time of events (RFC 3339)"}
	to := param{Name: "to", Kind: "string", Doc: "Where it ends; now if it is missing"}
	span := []param{watch, from, to}
	return []*route{
		{Method: http.MethodGet, Path: "/v1/watches", ID: "list-watches", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listWatches,
			Summary: "List watches with their states, without their charts", Params: paging, Response: typeOf[WatchList]()},
		{Method: http.MethodPut, Path: "/v1/watches/{watch}", ID: "put-watch", Scope: store.Evaluate, Status: http.StatusOK, Handle: (*Server).putWatch,
			Summary: "Keep a watch under this name", Detail: watchKept, Params: []param{watch}, Request: typeOf[NewWatch](), Response: typeOf[WatchView]()},
		{Method: http.MethodPost, Path: "/v1/watches/{watch}/check", ID: "check-watch", Scope: store.Evaluate, Status: http.StatusOK, Handle: (*Server).postWatchCheck,
			Summary: "Check a watch, and store nothing", Detail: watchChecked, Params: []param{watch}, Request: typeOf[WatchToCheck](), Response: typeOf[WatchCheck]()},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}", ID: "get-watch", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getWatch,
			Summary: "A watch with its charts", Params: []param{watch}, Response: typeOf[WatchView]()},
		{Method: http.MethodDelete, Path: "/v1/watches/{watch}", ID: "delete-watch", Scope: store.Evaluate, Status: http.StatusNoContent, Handle: (*Server).deleteWatch,
			Summary: "Remove a watch with its verdicts, charts and alarms", Params: []param{watch}},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/series", ID: "watch-series", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).watchSeries,
			Summary: "How often assertions failed in the traffic of a watch, by time", Detail: seriesDoc, Response: typeOf[WatchSeries](),
			Params: slices.Concat(span, []param{{Name: "assertion", Kind: "string", Doc: "Only this assertion"},
				{Name: "by", Kind: "string", Enum: []string{"version", "segment"}, Doc: "A line for each version of the agent and judge, or for each segment"},
				{Name: "step", Kind: "string", Doc: "The length of a bucket, such as 1h: a multiple of an hour or, for the last 48 hours, at least 1m. Without it, about 120 buckets"}})},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/differences", ID: "watch-differences", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).watchDifferences,
			Summary: "What differs in a range from the time before it, which is as long", Params: span, Response: typeOf[WatchDifferences]()},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/thumbs", ID: "watch-thumbs", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).watchThumbs,
			Summary: "How verdicts and thumbs of users go together, among those who voted", Params: span, Response: typeOf[WatchThumbs]()},
		{Method: http.MethodGet, Path: "/v1/watches/{watch}/verdicts", ID: "list-watch-verdicts", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listWatchVerdicts,
			Summary: "List the verdicts of a watch, newest first", Response: typeOf[WatchVerdictList](),
			Params: slices.Concat([]param{watch, verdict, {Name: "assertion", Kind: "string", Doc: "Only on this assertion"}, {Name: "version", Kind: "string", Doc: "Only of this version of the agent"},
				{Name: "segment", Kind: "string", Doc: "Only of this segment"}, {Name: "event", Kind: "string", Doc: "Only on this event"}, from, to}, paging)},
		{Method: http.MethodGet, Path: "/v1/alarms", ID: "list-alarms", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).listAlarms,
			Summary: "List alarms, newest first", Response: typeOf[AlarmList](), Params: slices.Concat([]param{
				{Name: "state", Kind: "string", Enum: []string{"open", "acked", "closed"}, Doc: "Only alarms in this state"}, {Name: "watch", Kind: "string", Doc: "Only of this watch"},
				{Name: "kind", Kind: "string", Enum: []string{"agent", "judge", "mix", "silent"}, Doc: "Only of this kind"}, {Name: "assertion", Kind: "string", Doc: "Only about this assertion"},
				{Name: "since", Kind: "string", Doc: "Only what was not closed before (RFC 3339)"}, {Name: "until", Kind: "string", Doc: "Only what was opened before (RFC 3339)"}}, paging)},
		{Method: http.MethodGet, Path: "/v1/alarms/{alarm}", ID: "get-alarm", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).getAlarm,
			Summary: "An alarm, and what people were told of it", Params: []param{in("alarm", "Its id")}, Response: typeOf[AlarmView]()},
		{Method: http.MethodPost, Path: "/v1/alarms/{alarm}/ack", ID: "ack-alarm", Scope: store.Edit, Also: []store.Scope{store.Evaluate, store.Labelling}, Others: true, Status: http.StatusOK, Handle: (*Server).ackAlarm,
			Summary: "Say that somebody looks after an alarm", Detail: "It closes by itself. An alarm that is acked stays as it is.", Params: []param{in("alarm", "Its id")}, Response: typeOf[AlarmView]()},
		{Method: http.MethodGet, Path: "/v1/adoption", ID: "get-adoption", Scope: store.Read, Others: true, Status: http.StatusOK, Handle: (*Server).adoption,
			Summary: "How far the project uses assertions: agents, prompts, pull requests", Detail: "Each measure has its definition.", Response: typeOf[Adoption]()},
	}
}

const watchKept = "The key pays for the evaluations, within its budget and the one of the watch, and only its models are asked. The same content again makes no new version. 201 says that the watch is new."

const watchChecked = "Mistakes are those of PUT, with their places under /watch and /set. The set is checked like one of PUT /v1/assertion-sets/{set}."

const seriesDoc = "Rates are weighted by the inverse of the probabilities with which events were sampled. corrected is there where people have labelled events of a random sample; without, the line says that the rate is the judge's."
