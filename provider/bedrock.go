package provider

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// bedrockConverse is POST /model/<model>/converse, which has one form for the
// models of all vendors.
var bedrockConverse = wire{path: bedrockPath("converse"), request: converseRequest, output: converseOutput, shape: converseShape}

// bedrockPath is the path of a model. Amazon signs paths with colons encoded.
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
	a, err := s.bedrockAPI()
	if err != nil {
		return nil, err
	}
	if !s.spec.Config.Has("modelName") {
		s.spec.Config.Set("modelName", bedrockModel(name)) // by which its price is known
	}
	for setting, variable := range map[string]string{"temperature": "AWS_BEDROCK_TEMPERATURE", "max_tokens": "AWS_BEDROCK_MAX_TOKENS", "top_p": "AWS_BEDROCK_TOP_P"} {
		if n := s.envNumber(variable, -1); n >= 0 && !s.spec.Config.Has(setting) {
			s.spec.Config.Set(setting, n)
		}
	}
	if strings.Contains(name, "anthropic.") {
		a.prices = "anthropic"
	}
	if !strings.HasPrefix(kind, "embedding") {
		return newModel(s, a, bedrockConverse, name)
	}
	m, err := newModel(s, a, wire{path: bedrockPath("invoke")}, name)
	if err != nil {
		return nil, err
	}
	return &bedrockEmbedder{embedder{model: m}}, nil
}

// bedrockAPI describes Bedrock's API in the region of the settings.
func (s settings) bedrockAPI() (api, error) {
	region := s.text("region")
	if region == "" {
		region, _ = s.env("AWS_BEDROCK_REGION", "AWS_REGION", "AWS_DEFAULT_REGION")
	}
	if region == "" {
		if region = "us-east-1"; !s.replays() {
			if profile, _ := s.either("profile", "AWS_PROFILE"); profile != "" && !s.o.Untrusted {
				if own := s.readProfile(profile).text("region"); own != "" {
					region = own
				}
			}
		}
	}
	if !plainName(region) {
		return api{}, s.invalid("region: expected a name such as us-east-1")
	}
	a := api{
		base: "https://bedrock-runtime." + region + "." + awsDomain(region), baseVars: []string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"},
		prices: "bedrock", login: func() (proof, error) { return s.aws(region) },
	}
	if s.text("accessKeyId") == "" { // keys of the suite come before a token
		a.keyVars = []string{"AWS_BEARER_TOKEN_BEDROCK"}
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

// bedrockModel is the plain name of a model: without the area prefix, the
// vendor Anthropic and the version suffix.
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
