package monitor

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
)

// drawn is one evaluation of a simulation.
type drawn struct {
	failed       bool
	segment      string
	conversation string
	probability  float64
	days         float64 // days since the previous one
}

// world is traffic with a known failure rate, and the chart that monitors it.
type world struct {
	perDay float64 // evaluations per day that enter the chart
	arl    float64 // designed number of evaluations to a false alarm
	model  model
	// draw returns a generator of evaluations. times is the factor by which the failure
	// rate exceeds the in-control rate; 1 means no change.
	draw func() func(r *rand.Rand, at time.Time, times float64) drawn
}

var simulationBegan = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// known returns a model whose in-control rate is known.
func known(p float64) model { return model{Source: FromBaseline, Rate: p, Upper: p, N: 1 << 20} }

// steady is traffic at equal intervals with independent evaluations.
func steady(p, arl float64) world {
	return world{perDay: 500, arl: arl, model: known(p), draw: func() func(*rand.Rand, time.Time, float64) drawn {
		return func(r *rand.Rand, _ time.Time, times float64) drawn {
			return drawn{failed: r.Float64() < times*p, probability: 1, days: 1.0 / 500}
		}
	}}
}

// path is one run of a world.
type path struct {
	world
	r     *rand.Rand
	chart *chart
	next  func(r *rand.Rand, at time.Time, times float64) drawn
	at    time.Time
}

func (w world) path(seed, number uint64) *path {
	return &path{world: w, r: rand.New(rand.NewPCG(seed, number)), chart: &chart{Model: w.model, Baseline: baseline{Done: true}}, next: w.draw(), at: simulationBegan}
}

// step draws the next evaluation, and reports whether it opens an alarm.
func (p *path) step(times float64) bool {
	d := p.next(p.r, p.at, times)
	p.at = p.at.Add(time.Duration(d.days * float64(day)))
	o := Observation{Conversation: d.conversation, Segment: d.segment, Time: p.at, Probability: d.probability, Status: proviso.Pass}
	if d.failed {
		o.Status = proviso.Fail
	}
	return p.chart.observe(&o, 1, p.arl/p.perDay).risen
}

// paths runs n paths on all processors, and returns their results in order.
func paths[T any](n int, run func(number int) T) []T {
	out := make([]T, n)
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range out {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			out[i] = run(i)
		})
	}
	all.Wait()
	return out
}

// falseAlarms returns the mean number of evaluations to a false alarm, with its standard
// error.
func (w world) falseAlarms(n int, seed uint64) (mean, se float64) {
	return meanOf(paths(n, func(i int) float64 {
		p := w.path(seed, uint64(i))
		for !p.step(1) {
			if p.chart.Entered > 100*int(w.arl) {
				break
			}
		}
		return float64(p.chart.Entered)
	}))
}

// warmUp is the number of in-control evaluations before a change.
const warmUp = 2000

// delay returns the number of evaluations from a change to its alarm: the mean and the
// 90th percentile. Paths with an alarm before the change are drawn again.
func (w world) delay(n int, seed uint64, times float64) (mean, p90 float64) {
	list := paths(n, func(i int) float64 {
		for again := uint64(0); ; again++ {
			if p := w.path(seed+again<<32, uint64(i)); p.warm() {
				before := p.chart.Entered
				for !p.step(times) {
					if p.chart.Entered > before+100*int(w.arl) {
						break
					}
				}
				return float64(p.chart.Entered - before)
			}
		}
	})
	mean, _ = meanOf(list)
	slices.Sort(list)
	return mean, list[len(list)*9/10]
}

// warm runs a path in control, and returns false if there is an alarm.
func (p *path) warm() bool {
	for p.chart.Entered < warmUp {
		if p.step(1) {
			return false
		}
	}
	return true
}

func meanOf(list []float64) (mean, se float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se) / float64(len(list))
}

// clustered is traffic in conversations: their size is geometric, and each has its own
// failure probability, with intraclass correlation icc. With ids, one evaluation per
// conversation enters the chart.
func clustered(size, icc float64, ids bool) world {
	const p = .05
	w := steady(p, 15_000)
	w.draw = func() func(*rand.Rand, time.Time, float64) drawn {
		number, left, own := 0, 0, 0.0
		return func(r *rand.Rand, _ time.Time, times float64) drawn {
			if left == 0 {
				number++
				for left = 1; r.Float64() > 1/size; left++ {
				}
				scale := (1 - icc) / icc
				own = beta(r, times*p*scale, (1-times*p)*scale)
			}
			left--
			d := drawn{failed: r.Float64() < own, probability: 1, days: 1.0 / 500 / size}
			if ids {
				d.conversation = "c" + strconv.Itoa(number)
			} else {
				d.days = 1.0 / 500
			}
			return d
		}
	}
	return w
}

// beta draws from the beta distribution.
func beta(r *rand.Rand, a, b float64) float64 {
	x, y := gamma(r, a), gamma(r, b)
	if x+y == 0 {
		return 0
	}
	return x / (x + y)
}

// gamma draws from the gamma distribution: Marsaglia and Tsang, 2000.
func gamma(r *rand.Rand, a float64) float64 {
	if a < 1 {
		return gamma(r, a+1) * math.Pow(r.Float64(), 1/a)
	}
	d := a - 1.0/3
	for {
		x := r.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// season returns the factor of the failure rate of seasonal traffic at a time.
func season(amplitude float64, at time.Time) float64 {
	return 1 + amplitude*math.Sin(2*math.Pi*(float64(at.Hour())+.5)/24)
}

// seasonal is traffic whose failure rate changes with the hour of the day.
func seasonal(amplitude, perDay float64, m model) world {
	const p = .05
	return world{perDay: perDay, arl: 15_000, model: m, draw: func() func(*rand.Rand, time.Time, float64) drawn {
		return func(r *rand.Rand, at time.Time, times float64) drawn {
			return drawn{failed: r.Float64() < times*p*season(amplitude, at), probability: 1, days: 1 / perDay}
		}
	}}
}

// hourly returns a model with the hourly in-control rates of a season.
func hourly(amplitude float64) model {
	m := known(.05)
	for h := range 24 {
		m.Hours = append(m.Hours, season(amplitude, simulationBegan.Add(time.Duration(h)*time.Hour)))
	}
	return m
}

// learnedFrom returns the model that a baseline learns from a world in control.
func learnedFrom(w world, seed uint64, evaluations int) model {
	p := w.path(seed, 0)
	var b baseline
	for range evaluations {
		d := p.next(p.r, p.at, 1)
		p.at = p.at.Add(time.Duration(d.days * float64(day)))
		b.add(d.failed, d.segment, p.at)
	}
	return *b.learned()
}

// falseAlarmsLearned is falseAlarms with a separate learned baseline for each path.
// within is the share of paths with a false alarm earlier than designed.
func (w world) falseAlarmsLearned(n int, seed uint64, evaluations int) (mean, within float64) {
	list := paths(n, func(i int) float64 {
		own := w
		own.model = learnedFrom(w, seed+uint64(i)*7919+1, evaluations)
		p := own.path(seed, uint64(i))
		for !p.step(1) {
			if p.chart.Entered > 20*int(w.arl) {
				break
			}
		}
		return float64(p.chart.Entered)
	})
	for _, x := range list {
		mean += min(x, 20*w.arl) / float64(n)
		if x <= w.arl {
			within += 1 / float64(n)
		}
	}
	return mean, within
}

// mixture is traffic from three segments, each of which makes up a third of the sample.
type mixture struct {
	traffic, failing, sampled [3]float64
	times                     [3]float64 // factor by which the change raises each segment
	shifted                   [3]float64 // traffic after the change; zero means unchanged
}

var segmentNames = [...]string{"large", "middle", "small"}

func unequal() mixture {
	return mixture{traffic: [3]float64{.8, .15, .05}, failing: [3]float64{.03, .08, .2}, sampled: [3]float64{1. / 3, 1. / 3, 1. / 3}, times: [3]float64{1, 1, 1}}
}

// world returns the chart of a mixture, with in-control rates per segment or a common
// one.
func (m mixture) world(bySegment bool) world {
	w := world{perDay: 500, arl: 15_000, model: model{Source: FromBaseline, Segments: map[string]float64{}}}
	for i, name := range segmentNames {
		w.model.Upper += m.sampled[i] * m.failing[i]
		w.model.Segments[name] = m.failing[i]
	}
	if w.model.Rate = w.model.Upper; !bySegment {
		w.model.Segments = nil
	}
	w.draw = func() func(*rand.Rand, time.Time, float64) drawn {
		return func(r *rand.Rand, _ time.Time, times float64) drawn {
			share := m.sampled
			if times != 1 && m.shifted != [3]float64{} {
				sum := 0.0
				for i := range share { // the sampling probabilities stay the same
					share[i] = m.sampled[i] / m.traffic[i] * m.shifted[i]
					sum += share[i]
				}
				for i := range share {
					share[i] /= sum
				}
			}
			i, u := 0, r.Float64()
			for ; i < 2 && u > share[i]; i++ {
				u -= share[i]
			}
			p := m.failing[i]
			if times != 1 {
				p *= m.times[i]
			}
			return drawn{failed: r.Float64() < p, segment: segmentNames[i], probability: 0.025 * m.sampled[i] / m.traffic[i], days: 1.0 / 500}
		}
	}
	return w
}

// always returns the mean number of evaluations to the alarm if the change is there from
// the start.
func (w world) always(n int, seed uint64, times float64) float64 {
	mean, _ := meanOf(paths(n, func(i int) float64 {
		p := w.path(seed, uint64(i))
		for !p.step(times) {
			if p.chart.Entered > 100*int(w.arl) {
				break
			}
		}
		return float64(p.chart.Entered)
	}))
	return mean
}

// irregular is traffic with varying intervals: days draws the time to the next
// evaluation.
func irregular(perDay float64, days func(r *rand.Rand, at time.Time) float64) world {
	w := steady(.05, 15_000)
	w.perDay = perDay
	w.draw = func() func(*rand.Rand, time.Time, float64) drawn {
		return func(r *rand.Rand, at time.Time, times float64) drawn {
			return drawn{failed: r.Float64() < times*.05, probability: 1, days: days(r, at)}
		}
	}
	return w
}

// daysToFalseAlarm returns the mean number of days to a false alarm.
func (w world) daysToFalseAlarm(n int, seed uint64) float64 {
	mean, _ := meanOf(paths(n, func(i int) float64 {
		p := w.path(seed, uint64(i))
		for !p.step(1) && p.chart.Entered < 100*int(w.arl) {
		}
		return p.at.Sub(simulationBegan).Hours() / 24
	}))
	return mean
}

// located measures how well changes are located: the share of intervals that contain the
// change, the median distance of the likeliest place, and the median length of the
// intervals, in evaluations.
func (w world) located(n int, seed uint64, times float64) (held, distance, length float64) {
	type result struct{ held, distance, length float64 }
	list := paths(n, func(i int) result {
		for again := uint64(0); ; again++ {
			p := w.path(seed+again<<32, uint64(i))
			if !p.warm() {
				continue
			}
			change := p.at
			for !p.step(times) {
			}
			best, _, since := p.chart.rise()
			out := result{distance: math.Abs(float64(best.Before - warmUp)), length: since.High.Sub(since.Low).Hours() / 24 * w.perDay}
			if !since.Low.After(change.Add(time.Second)) && !since.High.Before(change) {
				out.held = 1
			}
			return out
		}
	})
	var d, l []float64
	for _, x := range list {
		held += x.held / float64(n)
		d, l = append(d, x.distance), append(l, x.length)
	}
	slices.Sort(d)
	slices.Sort(l)
	return held, d[n/2], l[n/2]
}

// closing measures how an alarm ends: the days from the end of a week-long rise to the
// end of its alarm, and the number of alarms in 30 days of a permanent rise.
func (w world) closing(n int, seed uint64, times float64) (days, alarms float64) {
	watch := &Watch{Name: "w", FalseAlarms: FalseAlarms{w.arl / w.perDay}}
	run := func(i int, rise float64) (closed float64, opened int) {
		p := w.path(seed, uint64(i))
		c := NewCharts(watch, Options{})
		c.state.Charts = []*chart{p.chart}
		closed = 48 // used if the alarm never closes
		for p.at.Sub(simulationBegan).Hours()/24 < 60 {
			t := p.at.Sub(simulationBegan).Hours() / 24
			m := 1.0
			if t >= 5 && t < 5+rise {
				m = times
			}
			d := p.next(p.r, p.at, m)
			p.at = p.at.Add(time.Duration(d.days * float64(day)))
			o := Observation{Time: p.at, Probability: 1, Status: proviso.Pass}
			if d.failed {
				o.Status = proviso.Fail
			}
			for _, a := range c.Observe([]Observation{o}, p.at) {
				t := a.Opened.Sub(simulationBegan).Hours() / 24
				if a.State == StateOpen && a.Opened.Equal(p.at) && t > 5 && t < 35 {
					opened++
				}
				if a.State == StateClosed && t > 5 && t < 5+rise {
					closed = a.Closed.Sub(simulationBegan).Hours()/24 - 5 - rise
				}
			}
		}
		return closed, opened
	}
	type result struct{ closed, alarms float64 }
	for _, r := range paths(n, func(i int) result {
		closed, _ := run(i, 7)
		_, opened := run(i, 55)
		return result{closed, float64(opened)}
	}) {
		days, alarms = days+r.closed/float64(n), alarms+r.alarms/float64(n)
	}
	return days, alarms
}

// month runs a project without a change for 30 days, and returns the number of false
// alarms in all its charts.
func month(charts int, perDay float64, seed uint64) int {
	r := rand.New(rand.NewPCG(seed, uint64(charts)))
	c := NewCharts(&Watch{Name: "w", FalseAlarms: FalseAlarms{30}}, Options{})
	for i := range charts {
		c.state.Charts = append(c.state.Charts, &chart{Assertion: strconv.Itoa(i), Model: known(.05), Baseline: baseline{Done: true}, First: simulationBegan, Last: simulationBegan})
	}
	opened := 0
	for n := range int(30 * perDay) {
		at := simulationBegan.Add(time.Duration(float64(n+1) / perDay * float64(day)))
		list := make([]Observation, charts)
		for i := range list {
			list[i] = Observation{Assertion: c.state.Charts[i].Assertion, Time: at, Probability: 1, Status: proviso.Pass}
			if r.Float64() < .05 {
				list[i].Status = proviso.Fail
			}
		}
		for _, a := range c.Observe(list, at) {
			if a.State == StateOpen && a.Opened.Equal(at) {
				opened++
				one := c.state.Charts[slices.IndexFunc(c.state.Charts, func(x *chart) bool { return x.Assertion == a.Assertion })]
				c.closeID(a.ID, at, "") // so that the next one is counted, too
				one.Recovery = nil
				one.restart(at)
			}
		}
	}
	return opened
}
