package provider

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// embedder is an embedding model.
type embedder struct {
	*model
	vectors vectors
}

// vectors is the request and response form of an embedding API.
type vectors struct {
	request func(m *model, texts []string) *value.Object
	read    func(answer *value.Object) []any // one list of numbers for each text
	single  bool                             // a request holds one text only
}

// Answer returns an error: the model only embeds.
func (e *embedder) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	return proviso.Output{}, proviso.Errorf(proviso.Invalid, "%s gives vectors, it does not answer prompts", e.id)
}

// Embed returns one vector for each text, in their order.
func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	most := max(len(texts), 1)
	if e.vectors.single {
		most = 1
	}
	var all [][]float64
	var used proviso.Usage
	for some := range slices.Chunk(texts, most) {
		found, u, err := e.request(ctx, some)
		used.Add(u)
		if err != nil {
			return nil, used, err
		}
		all = append(all, found...)
	}
	return all, used, nil
}

// request makes one request.
func (e *embedder) request(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	r, err := e.fetch(ctx, e.vectors.request(e.model, texts))
	if err != nil {
		return nil, proviso.Usage{}, err
	}
	found := e.vectors.read(r.Object)
	if len(found) != len(texts) {
		return nil, proviso.Usage{}, e.malformed("the answer has not one vector for each text", keep(r.Object, "error", "model"))
	}
	out := make([][]float64, len(found))
	for i, v := range found {
		var ok bool
		if out[i], ok = numbers(v); !ok || len(out[i]) == 0 {
			return nil, proviso.Usage{}, e.malformed("the answer has a vector that is not a list of numbers", keep(r.Object, "error", "model"))
		}
	}
	u := openAIUsage(r.Object)
	if u.Total == 0 {
		u.Prompt = count(r.Object, "prompt_eval_count") + count(r.Object, "inputTextTokenCount")
		u.Total = u.Prompt
	}
	u.Requests = 1
	return out, u, nil
}

// openAIEmbeddings is POST /embeddings.
var openAIEmbeddings = wire{path: fixed("/embeddings"), vectors: vectors{
	request: func(m *model, texts []string) *value.Object {
		body := value.ObjectOf("model", m.name, "input", texts, "encoding_format", "float")
		copySettings(body, m.config, "dimensions", "user")
		passThrough(body, m.config, "passthrough", "extra_body")
		return body
	},
	read: func(answer *value.Object) []any {
		data := list(answer.At("data"))
		out := make([]any, len(data))
		for i, v := range data {
			at := i
			if n, ok := object(v).At("index").(float64); ok && n >= 0 && n < float64(len(data)) {
				at = int(n)
			}
			out[at] = object(v).At("embedding")
		}
		return out
	},
}}

var _ proviso.Embedder = (*embedder)(nil)
