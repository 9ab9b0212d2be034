package provider

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// bedrockEmbedder is an embedding model of Bedrock. Cohere's models take
// several texts at once, Amazon's take one.
type bedrockEmbedder struct{ embedder }

var _ proviso.Embedder = (*bedrockEmbedder)(nil)

// Embed returns one vector for each text, in their order.
func (e *bedrockEmbedder) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	if strings.Contains(e.name, "cohere.") {
		return (&embedder{e.model, cohereVectors}).Embed(ctx, texts)
	}
	one := &embedder{e.model, titanVectors}
	var all [][]float64
	var used proviso.Usage
	for _, text := range texts {
		v, u, err := one.Embed(ctx, []string{text})
		used.Add(u)
		if err != nil {
			return nil, used, err
		}
		all = append(all, v...)
	}
	return all, used, nil
}

// titanVectors is the request and response form of Amazon's models.
var titanVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		body := value.ObjectOf("inputText", texts[0])
		copySettings(body, m.config, "dimensions", "normalize")
		return body
	},
	read: func(answer *value.Object) []any { return []any{answer.At("embedding")} },
}

// cohereVectors is the request and response form of Cohere's models.
var cohereVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		body := value.ObjectOf("texts", textlist.Values(texts), "input_type", "search_document")
		copySettings(body, m.config, "input_type", "truncate")
		return body
	},
	read: func(answer *value.Object) []any {
		if byType := object(answer.At("embeddings")); byType != nil {
			return list(byType.At("float"))
		}
		return list(answer.At("embeddings"))
	},
}
