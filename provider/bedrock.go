package provider

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// bedrockConverse is POST /model/<model>/converse, which has one form for the
// models of all vendors.
var bedrockConverse = wire{path: bedrockPath("converse"), request: converseRequest, output: converseOutput, shape: converseShape}

// bedrockPath returns the path of a model. Amazon signs paths with encoded colons.
func bedrockPath(method string) func(string) string {
	return func(model string) string {
		return "/model/" + strings.ReplaceAll(url.PathEscape(model), ":", "%3A") + "/" + method
	}
}

// newBedrock opens bedrock:<model>, bedrock:converse:<model> and
// bedrock:embeddings:<model>. The model may also be an inference profile or an
// ARN.
func newBedrock(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, ok := strings.Cut(arg, ":")
	switch {
	case !ok || strings.Contains(kind, ".") || kind == "arn": // names of models have colons, too
		kind, name = "converse", arg
	case slices.Contains([]string{"converse", "completion", "chat", "embedding", "embeddings"}, kind):
	default:
		return nil, s.unsupported("bedrock:" + kind)
	}
	s.spec.Config = s.spec.Config.Clone() // it gets more settings below
	a, err := s.bedrock()
	if err != nil {
		return nil, err
	}
	if !s.spec.Config.Has("modelName") {
		s.spec.Config.Set("modelName", bedrockModel(name)) // the name its price is listed under
	}
	for setting, variable := range map[string]string{"temperature": "AWS_BEDROCK_TEMPERATURE", "max_tokens": "AWS_BEDROCK_MAX_TOKENS", "top_p": "AWS_BEDROCK_TOP_P"} {
		if n := s.envNumber(variable, -1); n >= 0 && !s.spec.Config.Has(setting) {
			s.spec.Config.Set(setting, n)
		}
	}
	if strings.Contains(name, "anthropic.") {
		a.prices = "anthropic"
	}
	w := bedrockConverse
	switch {
	case !strings.HasPrefix(kind, "embedding"):
	case strings.Contains(name, "cohere."):
		w = wire{path: bedrockPath("invoke"), vectors: cohereVectors}
	default:
		w = wire{path: bedrockPath("invoke"), vectors: titanVectors}
	}
	return openModel(s, a, w, name)
}

// bedrockAPI is the API of Bedrock, without a region.
var bedrockAPI = api{
	baseVars: []string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"}, keyVars: []string{"AWS_BEARER_TOKEN_BEDROCK"}, loginVars: []string{"AWS_ACCESS_KEY_ID"},
	prices: "bedrock",
}

// bedrock describes Bedrock's API in the region of the settings.
func (s settings) bedrock() (api, error) {
	region, _ := s.either("region", "AWS_BEDROCK_REGION", "AWS_REGION", "AWS_DEFAULT_REGION")
	if profile, _ := s.either("profile", "AWS_PROFILE"); region == "" && profile != "" && !s.o.Untrusted && !s.replays() {
		region = s.readProfile(profile)["region"]
	}
	region = cmp.Or(region, "us-east-1")
	if !plainName(region) {
		return api{}, s.invalid("region: expected a name such as us-east-1")
	}
	a := bedrockAPI
	a.base = "https://bedrock-runtime." + region + "." + awsDomain(region)
	a.login = func() (proof, error) { return s.aws(region) }
	if s.text("accessKeyId") != "" { // keys of the suite come before a token
		a.keyVars = nil
	}
	if base := s.text("endpoint"); base != "" && s.text("apiBaseUrl") == "" {
		s.spec.Config.Set("apiBaseUrl", base)
	}
	return a, nil
}

// awsDomain is the domain of a region's services.
func awsDomain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// areas are the prefixes of models that several regions serve together.
var areas = [...]string{"apac.", "au.", "ca.", "eu.", "global.", "jp.", "us-gov.", "us."}

// bedrockModel returns a model's plain name: without the area prefix, the vendor name anthropic and
// the version suffix.
func bedrockModel(id string) string {
	name := id[strings.LastIndexByte(id, '/')+1:] // of an ARN
	for _, area := range areas {
		name = strings.TrimPrefix(name, area)
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "anthropic."), ":")
	if before, version, ok := cutAtLast(name, "-v"); ok && strings.Trim(version, "0123456789") == "" {
		name = before
	}
	return name
}

// titanVectors is the request and response form of Amazon's models.
var titanVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		body := value.ObjectOf("inputText", texts[0])
		copySettings(body, m.config, "dimensions", "normalize")
		return body
	},
	read:   func(answer *value.Object) []any { return []any{answer.At("embedding")} },
	single: true,
}

// cohereVectors is the request and response form of Cohere's models.
var cohereVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		body := value.ObjectOf("texts", texts, "input_type", "search_document")
		copySettings(body, m.config, "input_type", "truncate")
		return body
	},
	read: func(answer *value.Object) []any {
		if byType := answer.Object("embeddings"); byType != nil {
			return list(byType.At("float"))
		}
		return list(answer.At("embeddings"))
	},
}
