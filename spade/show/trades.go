package show

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/solve"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Trades are the data for the reports of spade frontier.
type Trades struct {
	List       []selection.Trade
	Options    selection.Options
	Good, Bad  int
	Candidates int
	Priced     bool // it is known which assertions ask a model
}

// oneSided is the confidence of a two-sided interval whose ends are one-sided 95 % limits.
const oneSided = 0.9

// atMost and atLeast are the limits of an observed share.
func atMost(k, n int) float64  { return stats.Wilson(k, n, oneSided).High }
func atLeast(k, n int) float64 { return stats.Wilson(k, n, oneSided).Low }

// tradesLegend explains the columns.
const tradesLegend = "caught: bad outputs, with the lower limit of their share; failed: good outputs, with the upper limit (one-sided, 95 %, Wilson). The limits do not know that the sets were chosen on the same outputs. *: another line is at least as good in everything, and better in something; ~ is not proven to be the best."

// tradeColumns are the column titles.
var tradeColumns = []string{"", "size", "caught", "failed", "per output", "time", "candidates"}

func (t Trades) cells(x selection.Trade) []string {
	at := pointText(x)
	if len(t.taus()) > 1 {
		at += fmt.Sprintf(", tau %v", x.Tau)
	}
	if !x.Found() {
		why := "no selection"
		if x.Status == solve.Unknown {
			why = "not known"
		}
		return []string{at, "–", why, "", "", "", ""}
	}
	size := fmt.Sprint(len(x.Selected))
	if x.Status == solve.Feasible {
		size = "~" + size
	}
	if x.Dominated {
		size = "*" + size
	}
	return []string{
		at, size, t.caught(x), t.failed(x), t.costText(x), timeText(x.Running), Names(x.Selected, 4),
	}
}

func (t Trades) caught(x selection.Trade) string {
	return fmt.Sprintf("%d of %d (≥ %.0f %%)", x.Covered, t.Bad, 100*atLeast(x.Covered, t.Bad))
}

func (t Trades) failed(x selection.Trade) string {
	return fmt.Sprintf("%d of %d (≤ %.0f %%)", x.False, t.Good, 100*atMost(x.False, t.Good))
}

// pointText names a point of an axis.
func pointText(x selection.Trade) string {
	switch x.Axis {
	case selection.BySize:
		return "at most " + plural.Of(int(x.At), "candidate")
	case selection.ByBudget:
		return "at most " + format.Dollars(x.At)
	}
	return fmt.Sprintf("alpha %v", x.At)
}

// costText formats the cost of a set, "" if it is unknown which assertions ask a model.
func (t Trades) costText(x selection.Trade) string {
	switch r := x.Running; {
	case !t.Priced:
		return "–"
	case len(r.Unknown) > 0:
		return "not known"
	default:
		return format.Dollars(r.USD)
	}
}

// timeText formats how long a set takes, as far as that was measured.
func timeText(r selection.Running) string {
	if r.Local+r.Model == 0 {
		return "–"
	}
	text := shortTime(r.Local + r.Model)
	if len(r.Untimed) > 0 {
		text = "> " + text
	}
	return text
}

// shortTime formats a duration with two digits.
func shortTime(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			return d.Round(unit).String()
		}
		if d >= unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.String()
}

func (t Trades) taus() []float64 {
	var list []float64
	for _, x := range t.List {
		if len(list) == 0 || list[len(list)-1] != x.Tau {
			list = append(list, x.Tau)
		}
	}
	return list
}

func (t Trades) title() string {
	tau := ""
	if taus := t.taus(); len(taus) == 1 {
		tau = fmt.Sprintf(" within tau %v", taus[0])
	}
	text := fmt.Sprintf("The best sets of %s%s, on %s and %s", plural.Of(t.Candidates, "candidate"), tau, plural.Of(t.Bad, "bad output"), plural.Of(t.Good, "good one"))
	if b := t.Options.Budget; b != nil {
		text += ", for at most " + format.Dollars(*b) + " per output"
	}
	return text
}

// notes say what the figures omit.
func (t Trades) notes() []string {
	var unknown, untimed []string
	asking := false
	seen := map[string]bool{}
	for _, x := range t.List {
		asking = asking || x.Running.Asking > 0
		for _, name := range x.Running.Unknown {
			if !seen["$"+name] {
				unknown, seen["$"+name] = append(unknown, name), true
			}
		}
		for _, name := range x.Running.Untimed {
			if !seen[name] {
				untimed, seen[name] = append(untimed, name), true
			}
		}
	}
	var list []string
	if asking {
		list = append(list, "Questions to a model are asked at the same time: of their times, the longest counts.")
	}
	if len(unknown) > 0 {
		list = append(list, "What asking a model costs was not measured for "+Names(unknown, MaxNames)+"; give it with --judge-price.")
	}
	if len(untimed) > 0 && t.Priced {
		list = append(list, "No time was measured for "+Names(untimed, MaxNames)+".")
	}
	return list
}

// Text shows the trade-offs to a person.
func (t Trades) Text(o report.TerminalOptions) []byte {
	p := &page{o: o}
	p.line("%s\n", p.o.Paint(report.Bold, t.title()))
	rows := [][]string{tradeColumns}
	for _, x := range t.List {
		rows = append(rows, t.cells(x))
	}
	wide := make([]int, len(tradeColumns))
	for _, row := range rows {
		for i, text := range row {
			wide[i] = max(wide[i], len([]rune(text)))
		}
	}
	for i, row := range rows {
		var b strings.Builder
		for k, text := range row {
			space := strings.Repeat(" ", wide[k]-len([]rune(text)))
			if k == 1 {
				text = space + text
			} else {
				text += space
			}
			b.WriteString("  " + text)
		}
		line := strings.TrimRight(b.String(), " ")
		if i == 0 {
			line = p.o.Paint(report.Bold, line)
		}
		p.line("%s", line)
	}
	p.line("")
	for _, note := range append(t.notes(), tradesLegend) {
		p.line("%s", p.o.Paint(report.Dim, note))
	}
	return p.Bytes()
}

// Markdown shows the trade-offs in a comment or a page.
func (t Trades) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n\n|", t.title())
	for _, c := range tradeColumns {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|---|--:|---|---|--:|--:|---|\n")
	for _, x := range t.List {
		b.WriteByte('|')
		for _, text := range t.cells(x) {
			fmt.Fprintf(&b, " %s |", report.MarkdownSentence(text))
		}
		b.WriteByte('\n')
	}
	for _, note := range append(t.notes(), tradesLegend) {
		fmt.Fprintf(&b, "\n%s\n", report.MarkdownSentence(note))
	}
	return b.Bytes()
}

// tradeJSON is one trade-off in JSON. Unknown values are null.
type tradeJSON struct {
	By        selection.Axis `json:"by"`
	At        float64        `json:"at"`
	Tau       float64        `json:"tau"`
	Status    string         `json:"status"`
	Selected  []string       `json:"selected"`
	Covered   int            `json:"covered"`
	Bad       int            `json:"bad"`
	Low       float64        `json:"coverage_lower_limit"`
	False     int            `json:"false_failures"`
	Good      int            `json:"good"`
	High      float64        `json:"ffr_upper_limit"`
	USD       *float64       `json:"usd_per_output"`
	Seconds   *float64       `json:"seconds_per_output"`
	Asking    int            `json:"ask_a_model"`
	Unknown   []string       `json:"price_unknown,omitempty"`
	Untimed   []string       `json:"time_unknown,omitempty"`
	Dominated bool           `json:"dominated"`
}

// JSON returns the trade-offs as one indented JSON object.
func (t Trades) JSON() ([]byte, error) {
	list := []tradeJSON{}
	for _, x := range t.List {
		j := tradeJSON{By: x.Axis, At: x.At, Tau: x.Tau, Status: x.Status.String(), Selected: append([]string{}, x.Selected...), Bad: t.Bad, Good: t.Good, High: 1, Dominated: x.Dominated}
		if r := x.Running; x.Found() {
			j.Covered, j.Low, j.False, j.High = x.Covered, atLeast(x.Covered, t.Bad), x.False, atMost(x.False, t.Good)
			j.Asking, j.Unknown, j.Untimed = r.Asking, r.Unknown, r.Untimed
			if t.Priced && len(r.Unknown) == 0 {
				j.USD = &r.USD
			}
			if seconds := (r.Local + r.Model).Seconds(); len(r.Untimed) == 0 {
				j.Seconds = &seconds
			}
		}
		list = append(list, j)
	}
	return value.EncodeJSON(map[string]any{"frontier": list}, "  ")
}

// Sizes in the picture of trade-offs, in pixels.
const (
	tradeStep, tradeHigh   = 84, 240
	tradeLeft, tradeAbove  = 64, 84
	tradeBelow, tradeShift = 116, 10
)

// SVG draws the trade-offs: for each point the share of bad outputs caught, with its lower
// limit, and the share of good outputs failed, with its upper limit.
func (t Trades) SVG() []byte {
	var b bytes.Buffer
	width, height := max(620, tradeLeft+tradeStep*len(t.List)+20), tradeAbove+tradeHigh+tradeBelow
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="Size, coverage, false failures and cost of sets of assertions">
<style>
text{fill:#1f2328;font:13px system-ui,sans-serif;text-anchor:middle}.h{font-weight:bold;font-size:15px}.l{text-anchor:start}.e{text-anchor:end}.s{fill:#59636e;font-size:11px}
.p{fill:#ffffff}.g{stroke:#d0d7de}.c{fill:#0969da;stroke:#0969da}.f{fill:#cf222e;stroke:#cf222e}.d{opacity:.45}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.p{fill:#0d1117}.g{stroke:#3d444d}.c{fill:#4493f8;stroke:#4493f8}.f{fill:#ff7b72;stroke:#ff7b72}}
</style>
<rect class="p" width="%d" height="%d"/>
<text class="h l" x="16" y="26">%s</text>
<text class="s l" x="16" y="46">Blue: bad outputs caught, down to the lower limit of their share. Red: good outputs failed, up to the upper limit. Limits of 95 %%.</text>
<text class="s l" x="16" y="62">Below: size, cost and time for one output. Faint: another set is nowhere worse.</text>
`, width, height, width, height, width, height, html.EscapeString(report.Line(t.title(), 200)))
	y := func(share float64) int { return tradeAbove + tradeHigh - int(share*tradeHigh+0.5) }
	for tenth := 0; tenth <= 10; tenth += 2 {
		at := y(float64(tenth) / 10)
		fmt.Fprintf(&b, "<path class=\"g\" d=\"M%d %dH%d\"/><text class=\"s e\" x=\"%d\" y=\"%d\">%d %%</text>\n", tradeLeft, at, width-16, tradeLeft-8, at+4, 10*tenth)
	}
	for i, x := range t.List {
		at := tradeLeft + tradeStep*i + tradeStep/2
		under := tradeAbove + tradeHigh + 20
		fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", at, under, html.EscapeString(strings.Replace(pointText(x), "at most ", "≤ ", 1)))
		if !x.Found() {
			fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">no selection</text>\n", at, under+18)
			continue
		}
		faint := ""
		if x.Dominated {
			faint = " d"
		}
		bar := func(class string, x, seen, limit int) {
			fmt.Fprintf(&b, "<g class=\"%s%s\"><circle cx=\"%d\" cy=\"%d\" r=\"5\"/><path d=\"M%d %dV%d\" stroke-width=\"2\"/></g>\n", class, faint, x, seen, x, seen, limit)
		}
		bar("c", at-tradeShift, y(share(x.Covered, t.Bad)), y(atLeast(x.Covered, t.Bad)))
		bar("f", at+tradeShift, y(share(x.False, t.Good)), y(atMost(x.False, t.Good)))
		cells := t.cells(x)
		for k, text := range []string{cells[1] + " selected", cells[4], cells[5]} {
			fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", at, under+18*(k+1), html.EscapeString(text))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func share(k, n int) float64 { return float64(k) / float64(max(1, n)) }
