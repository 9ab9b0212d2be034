package files

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
)

// untrafficked is the part of [refusing] about traffic: a folder of runs has none.
type untrafficked struct{}

var _ store.Traffic = untrafficked{}

// AddEvents implements [store.Traffic].
func (untrafficked) AddEvents(context.Context, []store.NewEvent) (store.AddedEvents, error) {
	return store.AddedEvents{}, refused()
}

// Event implements [store.Traffic].
func (untrafficked) Event(_ context.Context, id string) (store.Event, error) {
	return store.Event{}, proviso.Errorf(proviso.NotFound, "there is no event %q: a folder of runs has none", id)
}

// ListEvents implements [store.Traffic].
func (untrafficked) ListEvents(_ context.Context, _ store.EventFilter, p store.Page) (store.List[store.Event], error) {
	return none[store.Event]("events", p)
}

// Conversation implements [store.Traffic].
func (untrafficked) Conversation(_ context.Context, conversation string, _ store.Page) (store.List[store.Event], error) {
	return store.List[store.Event]{}, proviso.Errorf(proviso.NotFound, "there is no conversation %q: a folder of runs has none", conversation)
}

// AddFeedback implements [store.Traffic].
func (untrafficked) AddFeedback(context.Context, ingest.Feedback) (bool, error) {
	return false, refused()
}

// ListFeedback implements [store.Traffic].
func (untrafficked) ListFeedback(_ context.Context, _ store.FeedbackFilter, p store.Page) (store.List[store.Feedback], error) {
	return none[store.Feedback]("feedback", p)
}

// ForgetUser implements [store.Traffic].
func (untrafficked) ForgetUser(context.Context, string) (store.Forgotten, error) {
	return store.Forgotten{}, refused()
}

// ListAgents implements [store.Traffic].
func (untrafficked) ListAgents(_ context.Context, p store.Page) (store.List[store.Agent], error) {
	return none[store.Agent]("agents", p)
}

// ListPrompts implements [store.Traffic].
func (untrafficked) ListPrompts(_ context.Context, agent string, _ store.Page) (store.List[store.AgentPrompt], error) {
	return store.List[store.AgentPrompt]{}, proviso.Errorf(proviso.NotFound, "there is no agent %q: a folder of runs has none", agent)
}

// CountTraffic implements [store.Traffic].
func (untrafficked) CountTraffic(context.Context, store.TrafficFilter) ([]store.TrafficCount, error) {
	return nil, nil
}
