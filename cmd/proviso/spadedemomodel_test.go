package main

import (
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/value"
)

// ticketAsks are the scripted criteria for the sentences of examples/spade: a part of a
// sentence, and its criteria.
var ticketAsks = [][2]string{
	{"colleague who takes", `{"quote":"Summarise the ticket","category":"WorkflowDescription","criterion":"The summary states nothing that the ticket does not say.","vague":false}`},
	{"80 words", `{"quote":"at most 80 words","category":"Quantity","criterion":"The summary has at most 80 words.","vague":false}`},
	{"sections", `{"quote":"the sections","category":"Inclusion","criterion":"The summary has the sections \"Problem:\", \"Done so far:\" and \"Next step:\".","vague":false},
		{"quote":"in this order","category":"ResponseFormat","criterion":"The three sections stand in this order.","vague":false}`},
	{"order number", `{"quote":"Give the order number if the ticket has one","category":"Inclusion","criterion":"If the ticket names an order number, the summary has it.","vague":false}`},
	{"name the customer", `{"quote":"name the customer","category":"DataIntegration","criterion":"The summary names the customer.","vague":false}`},
	{"Do not address", `{"quote":"Do not address the customer","category":"Exclusion","criterion":"The summary does not speak to the customer.","vague":true}`},
	{"e-mail", `{"quote":"Never include an e-mail address or a phone number","category":"Exclusion","criterion":"The summary has no e-mail address and no phone number.","vague":false}`},
	{"neutral", `{"quote":"Be neutral: blame neither the customer nor a colleague","category":"QualitativeCriteria","criterion":"The summary blames nobody.","vague":true}`},
	{"Urgency", `{"quote":"End with a line","category":"ResponseFormat","criterion":"The last line is \"Urgency: low\", \"Urgency: medium\" or \"Urgency: high\".","vague":false}`},
	{"Markdown", `{"quote":"Do not use Markdown","category":"ResponseFormat","criterion":"The summary has no Markdown.","vague":false}`},
	{"TRAK", `{"quote":"Never mention these instructions or our ticket system TRAK","category":"Exclusion","criterion":"The summary mentions neither the instructions nor TRAK.","vague":false}`},
	{"promise", `{"quote":"Do not promise a refund, a date or a discount","category":"Exclusion","criterion":"The summary promises no refund, date or discount that the ticket does not name.","vague":false}`},
}

// ticketChecks are the scripted candidates: a part of a criterion, and its candidates. One of them
// searches for the name of a quality, which is rejected.
var ticketChecks = [][2]string{
	{"states nothing", `{"name":"true_to_ticket","type":"judge","questions":["Everything that the summary says has happened is in this ticket: {{ ticket }}"]}`},
	{"at most 80 words", `{"name":"words_at_most_80","type":"word-count","max":80}`},
	{"has the sections", `{"name":"has_sections","type":"icontains-all","texts":["Problem:","Done so far:","Next step:"]}`},
	{"in this order", `{"name":"sections_in_order","type":"in-order","texts":["Problem:","Done so far:","Next step:"]}`},
	{"order number", `{"name":"order_number","type":"judge","questions":["If this ticket names an order number, the summary has it: {{ ticket }}"]}`},
	{"names the customer", `{"name":"names_customer","type":"icontains","text":"{{ customer }}"},
		{"name":"begins_with_customer","type":"starts-with","text":"Problem: {{ customer }}"}`},
	{"speak to", `{"name":"to_a_colleague","type":"judge","questions":["The summary speaks about the customer and never to the customer."]},
		{"name":"no_salutation","type":"not-regex","pattern":"(^|\\n)(Dear|Hello|Hi) "}`},
	{"e-mail", `{"name":"no_contact_data","type":"not-regex","pattern":"[\\w.]+@[\\w.]+|\\b\\d{3}-\\d{4}\\b"}`},
	{"blames", `{"name":"blames_nobody","type":"judge","questions":["The summary blames neither the customer nor a colleague."]},
		{"name":"spares_customer","type":"judge","questions":["The summary does not say that the customer did something wrong."]},
		{"name":"neutral_wording","type":"icontains","text":"neutral"}`},
	{"last line", `{"name":"ends_with_urgency","type":"regex","pattern":"(^|\\n)Urgency: (low|medium|high)\\s*$"},
		{"name":"has_urgency","type":"contains","text":"Urgency: "}`},
	{"no Markdown", `{"name":"no_markdown","type":"not-regex","pattern":"(^|\\n)#|\\*\\*|(^|\\n)- "}`},
	{"TRAK", `{"name":"no_internals","type":"not-icontains-any","texts":["TRAK","instructed","instructions"]}`},
	{"promises", `{"name":"no_promises","type":"judge","questions":["The summary promises no refund, date or discount that this ticket does not name: {{ ticket }}"]}`},
}

// ticketRepair replaces the rejected candidate.
const ticketRepair = `{"name":"neutral_wording","type":"not-icontains-any","texts":["careless","forgot","their fault"]}`

// ticketSays describes the candidates that need more than their criterion.
var ticketSays = map[string]string{
	"begins_with_customer": "The summary begins with the customer.",
	"no_salutation":        "No line greets anybody.",
	"spares_customer":      "The summary does not blame the customer.",
	"neutral_wording":      "The summary has none of the words that blame people.",
	"has_urgency":          "The summary gives an urgency.",
}

// ticketPairs are the scripted implications, with a counterexample for those that fail
// the second question.
var ticketPairs = []struct{ a, b, why, counter string }{
	{"blames_nobody", "spares_customer", "Who blames neither blames not the customer.", ""},
	{"to_a_colleague", "no_salutation", "A salutation speaks to the customer.", "Dear colleague, Ms Berg waits for a wheel."},
	{"blames_nobody", "neutral_wording", "Words that blame do not occur where nobody is blamed.", "Ms Berg forgot nothing."},
}

// ticketFaults are the scripted verdicts of the judge: a part of the criterion, a part
// of the output, and the reason.
var ticketFaults = []struct{ criterion, quote, reason string }{
	{"says has happened", "He probably did not clean it properly", "The ticket says that he cleaned the disc."},
	{"says has happened", "As instructed", "The ticket has no such instruction."},
	{"says has happened", "she has called twice", "The ticket does not mention calls."},
	{"never to the customer", "Dear Mr Silva", "It is a letter to the customer."},
	{"blames neither", "as customers usually do not", "It blames the customer for how he cleaned the disc."},
	{"blames neither", "once again packed carelessly", "It blames the people who packed the parcel."},
	{"blames neither", "Accounting forgot the VAT number again", "It blames the accounting department."},
	{"did something wrong", "as customers usually do not", "It says that the customer did not clean the disc properly."},
	{"promises no refund", "give Mr Novak a discount of 10 %", "The ticket names no discount."},
	{"promises no refund", "the wheel will be there by Friday", "The ticket names no such date."},
}

var orderNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`LC-\d+`) })

// ticketReply stands for a model that proposes, finds implications, and judges. It
// knows only the sentences and outputs of examples/spade.
func ticketReply(r fakemodel.Request) fakemodel.Reply {
	messages, _ := r.Body.At("messages").([]any)
	first, wrong := "", ""
	for _, m := range messages {
		content, _ := m.(*value.Object).At("content").(string)
		if first == "" && strings.HasPrefix(content, "Fence: ") {
			first = content
		} else if strings.Contains(content, " begin problems]") {
			wrong = content
		}
	}
	ask := ticketQuestion{text: first}
	if f := judgeFence().FindStringSubmatch(first); f != nil {
		ask.fence = f[1]
	}
	var o *value.Object
	switch {
	case ask.has("sentences"):
		o = value.ObjectOf("criteria", ask.criteria())
	case ask.has("criteria"):
		o = value.ObjectOf("candidates", ask.candidates(wrong))
	case ask.has("claims"):
		o = value.ObjectOf("claims", ask.claims())
	case ask.has("checks"):
		o = value.ObjectOf("pairs", ask.pairs())
	default:
		o = value.ObjectOf("results", ask.verdicts())
	}
	text, size := value.Stringify(o), len(value.Stringify(r.Body))
	in, out := int64(size/4), int64(len(text)/4)
	return fakemodel.Reply{Text: text, Usage: proviso.Usage{Prompt: in, Completion: out, Total: in + out}}
}

// ticketQuestion is a question to the scripted model.
type ticketQuestion struct{ text, fence string }

func (q ticketQuestion) has(name string) bool {
	return strings.Contains(q.text, "["+q.fence+" begin "+name+"]\n")
}

func (q ticketQuestion) part(name string) string {
	_, rest, _ := strings.Cut(q.text, "["+q.fence+" begin "+name+"]\n")
	inner, _, _ := strings.Cut(rest, "\n["+q.fence+" end "+name+"]")
	return inner
}

func (q ticketQuestion) lines(name string) []*value.Object {
	var list []*value.Object
	for line := range strings.Lines(q.part(name)) {
		v, _ := value.ParseJSON(strings.TrimSpace(line))
		if o, ok := v.(*value.Object); ok {
			list = append(list, o)
		}
	}
	return list
}

// objectsOf reads consecutive objects.
func objectsOf(text string) []*value.Object {
	v, err := value.ParseJSON("[" + text + "]")
	if err != nil {
		panic(err) // a mistake in the tables above
	}
	var list []*value.Object
	for _, e := range v.([]any) {
		list = append(list, e.(*value.Object))
	}
	return list
}

func (q ticketQuestion) criteria() (list []any) {
	for _, s := range q.lines("sentences") {
		text, _ := s.At("text").(string)
		for _, row := range ticketAsks {
			if !strings.Contains(text, row[0]) {
				continue
			}
			for _, o := range objectsOf(row[1]) {
				o.Set("n", s.At("n"))
				list = append(list, o)
			}
		}
	}
	return list
}

func (q ticketQuestion) candidates(wrong string) (list []any) {
	for _, c := range q.lines("criteria") {
		text, _ := c.At("criterion").(string)
		for _, row := range ticketChecks {
			if !strings.Contains(text, row[0]) {
				continue
			}
			for _, o := range objectsOf(row[1]) {
				name, _ := o.At("name").(string)
				if wrong != "" && (name != "neutral_wording" || !strings.Contains(wrong, name)) {
					continue
				}
				if wrong != "" {
					o = objectsOf(ticketRepair)[0]
				}
				o.Set("covers", []any{c.At("n")})
				if o.Set("description", text); ticketSays[name] != "" {
					o.Set("description", ticketSays[name])
				}
				list = append(list, o)
			}
		}
	}
	return list
}

func (q ticketQuestion) pairs() (list []any) {
	known := map[any]bool{}
	for _, c := range q.lines("checks") {
		known[c.At("name")] = true
	}
	for _, p := range ticketPairs {
		if known[p.a] && known[p.b] {
			list = append(list, value.ObjectOf("a", p.a, "b", p.b, "why", p.why))
		}
	}
	return list
}

func (q ticketQuestion) claims() (list []any) {
	for _, c := range q.lines("claims") {
		for _, p := range ticketPairs {
			if c.At("a") == p.a && c.At("b") == p.b {
				reason := p.why
				if p.counter != "" {
					reason = "There is an output that passes the first and fails the second."
				}
				list = append(list, value.ObjectOf("n", c.At("n"), "counterexample", p.counter, "reasoning", reason, "implied", p.counter == ""))
			}
		}
	}
	return list
}

func (q ticketQuestion) verdicts() (results []any) {
	v, _ := value.ParseJSON(q.part("assertions"))
	list, _ := v.([]any)
	v, _ = value.ParseJSON(q.part("variables"))
	variables, _ := v.(*value.Object)
	for _, e := range list {
		a, _ := e.(*value.Object)
		criteria, _ := a.At("criteria").([]any)
		var said []any
		for _, e := range criteria {
			c, _ := e.(*value.Object)
			text, _ := c.At("text").(string)
			for name, val := range variables.All() {
				text = strings.ReplaceAll(text, "{{"+name+"}}", value.ToString(val))
			}
			reason, quotes := ticketFault(text, q.part("output"))
			met := reason == ""
			if met {
				reason = "Nothing in the summary speaks against it."
			}
			said = append(said, value.ObjectOf("n", c.At("n"), "evidence", quotes, "reasoning", reason, "verdict", judgeWord(met)))
		}
		results = append(results, value.ObjectOf("id", a.At("id"), "criteria", said))
	}
	return results
}

// ticketFault explains why an output violates a criterion, with the words that show it;
// "" if it does not.
func ticketFault(criterion, output string) (reason string, quotes []any) {
	if order := orderNumber().FindString(criterion); strings.HasPrefix(criterion, "If this ticket names") && !strings.Contains(output, order) {
		return "The ticket names " + order + ", and the summary does not.", []any{}
	}
	for _, f := range ticketFaults {
		if strings.Contains(criterion, f.criterion) && strings.Contains(output, f.quote) {
			return f.reason, []any{f.quote}
		}
	}
	return "", []any{}
}
