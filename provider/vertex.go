package provider

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// vertexAnthropicVersion is the version of Claude's API on Vertex AI.
const vertexAnthropicVersion = "vertex-2023-10-16"

// newVertex opens vertex:<model>, vertex:chat:<model>, vertex:messages:<model>
// and vertex:embedding:<model> of Google Cloud. Models named claude-…, and all
// of vertex:messages, use Anthropic's Messages API.
func newVertex(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, ok := strings.Cut(arg, ":")
	switch {
	case !ok:
		kind, name = "chat", arg
	case !slices.Contains([]string{"chat", "messages", "embedding", "embeddings"}, kind):
		return nil, s.unsupported("vertex:" + kind)
	case kind == "messages" && strings.HasPrefix(name, "gemini"):
		return nil, s.invalid("vertex:messages is for Claude; for %s, use vertex:%s", name, name)
	}
	if spec.Config.At("expressMode") == false { // use credentials, even if there is a key
		s.spec.Config = spec.Config.Clone()
		s.spec.Config.Delete("apiKey")
	}
	a, err := s.vertex()
	if err != nil {
		return nil, err
	}
	publisher := s.vertexPublisher(name)
	if kind == "messages" {
		kind, publisher = "chat", "anthropic"
	}
	method := "generateContent"
	w := googleGenerate
	switch {
	case kind != "chat":
		w, method = wire{vectors: vertexVectors}, "predict"
	case publisher == "anthropic":
		w, method, a.prices, a.prefix = vertexClaude, "rawPredict", "anthropic", "ANTHROPIC"
		a.tokens = claudeTokens(name)
	case publisher != "google":
		return nil, s.unsupported("vertex: with the publisher " + publisher)
	}
	if a.login == nil && publisher != "google" {
		return nil, s.invalid("a key alone serves Google's models; others need credentials: set GOOGLE_APPLICATION_CREDENTIALS")
	}
	w.path = func(model string) string {
		return "/publishers/" + publisher + "/models/" + url.PathEscape(model) + ":" + method
	}
	return openModel(s, a, w, name)
}

// vertexPublisher is the publisher of a model.
func (s settings) vertexPublisher(model string) string {
	if p, _ := s.either("publisher", "VERTEX_PUBLISHER"); plainName(p) {
		return p
	}
	if strings.HasPrefix(model, "claude") {
		return "anthropic"
	}
	return "google"
}

// vertexAPI is the API of Vertex AI, without a project and a region.
var vertexAPI = api{
	hostVars: []string{"VERTEX_API_HOST"}, keyVars: []string{"VERTEX_API_KEY"}, header: "x-goog-api-key", prices: "google", prefix: "GOOGLE",
}

// vertex finds the project, the region and the credentials. With a key and no project, there is no
// login.
func (s settings) vertex() (api, error) {
	version, _ := s.either("apiVersion", "VERTEX_API_VERSION")
	version = cmp.Or(version, "v1")
	if !plainName(version) {
		return api{}, s.invalid("apiVersion: expected a name such as v1")
	}
	a := vertexAPI
	if s.spec.Config.At("expressMode") != false && !s.key(a).empty() {
		a.base, a.under = "https://aiplatform.googleapis.com", "/"+version
		return a, nil
	}
	c, err := s.googleCredentials()
	if err != nil {
		return api{}, err
	}
	region, _ := s.either("region", "VERTEX_REGION", "GOOGLE_CLOUD_LOCATION")
	region = cmp.Or(region, "us-central1")
	if !plainName(region) {
		return api{}, s.invalid("region: expected a name such as us-central1 or global")
	}
	project, err := s.vertexProject(c)
	if err != nil {
		return api{}, err
	}
	a.base, a.keyVars = "https://"+vertexHost(region), nil
	a.under = "/" + version + "/projects/" + project + "/locations/" + region
	a.login = func() (proof, error) { return s.vertexLogin(c) }
	return a, nil
}

// vertexHost is the host of a region.
func vertexHost(region string) string {
	switch region {
	case "global":
		return "aiplatform.googleapis.com"
	case "eu", "us":
		return "aiplatform." + region + ".rep.googleapis.com"
	}
	return region + "-aiplatform.googleapis.com"
}

// vertexProject is the project that is billed.
func (s settings) vertexProject(c *googleCredentials) (string, error) {
	project, _ := s.either("projectId", "VERTEX_PROJECT_ID", "GOOGLE_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT")
	if project == "" && c != nil {
		project = c.project
	}
	if project == "" {
		if s.o.Keyless {
			return "none", nil
		}
		return "", s.noKey("no project: set GOOGLE_CLOUD_PROJECT in the environment, or config.projectId")
	}
	// A project within a domain is called domain:name.
	if domain, name, ok := strings.Cut(project, ":"); !plainName(strings.ReplaceAll(domain, ".", "-")) || ok && !plainName(name) {
		return "", s.invalid("projectId: %s is not the id of a project", excerpt([]byte(project)))
	}
	return project, nil
}

func (s settings) vertexLogin(c *googleCredentials) (proof, error) {
	switch {
	case c != nil:
		return proof{login: newBearer(s.now(), c.token(s.loginClient())), from: c.from, own: c.own}, nil
	case !s.o.Untrusted && s.onGoogle():
		return proof{login: newBearer(s.now(), s.metadataToken()), from: "the metadata service"}, nil
	}
	return proof{}, s.noKey("no credentials: set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or run `gcloud auth application-default login`")
}

// vertexClaude is Claude's API on Vertex AI: the model is in the path and the version in the body.
var vertexClaude = wire{request: vertexClaudeRequest, output: anthropicOutput, shape: anthropicShape}

func vertexClaudeRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body, err := anthropicRequest(m, ask, cfg)
	if err != nil {
		return nil, err
	}
	body.Delete("model")
	body.Set("anthropic_version", cmp.Or(cfg.Text("anthropic_version"), cfg.Text("anthropicVersion"), vertexAnthropicVersion))
	if betas := list(cfg.At("beta")); len(betas) > 0 {
		body.Set("anthropic_beta", slices.Clone(betas))
	}
	return body, nil
}

// vertexVectors is :predict of embedding models.
var vertexVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		instances := make([]any, len(texts))
		for i, t := range texts {
			one := value.ObjectOf("content", t)
			if task := m.config.At("taskType"); task != nil {
				one.Set("task_type", task)
			}
			copySettings(one, m.config, "title")
			instances[i] = one
		}
		body := value.ObjectOf("instances", instances)
		parameters := value.NewObject(2)
		copySettings(parameters, m.config, "autoTruncate", "outputDimensionality")
		if parameters.Len() > 0 {
			body.Set("parameters", parameters)
		}
		return body
	},
	read: func(answer *value.Object) []any {
		found := slices.Clone(list(answer.At("predictions")))
		for i, v := range found {
			found[i] = object(v).Object("embeddings").At("values")
		}
		return found
	},
}
