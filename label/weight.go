package label

// drawnFrom says what labels were drawn from together.
type drawnFrom struct {
	run, queue, assertion string
	population            int
}

// Weights returns how many items of its run each label stands for, so that rates of the
// labels are rates of the run; 1 for all if the labels are a plain random sample, or if
// it is not known how they were drawn.
//
// A queue gives out its informative items by rank, from the first. So all items up to the
// last one that has a label are one stratum, in which a label stands for its share of
// them. Below it, only items that were drawn at random have labels: they stand for all
// others.
func Weights(list []*Label) []float64 {
	weights := make([]float64, len(list))
	groups := map[drawnFrom][]int{}
	for i, l := range list {
		weights[i] = 1
		if l.Population > 0 {
			of := drawnFrom{l.Run, l.Queue, l.Assertion, l.Population}
			groups[of] = append(groups[of], i)
		}
	}
	for of, members := range groups {
		zone := 0
		for _, i := range members {
			if list[i].Stratum == Informative {
				zone = max(zone, list[i].Rank+1)
			}
		}
		inside, outside := 0, 0
		for _, i := range members {
			if list[i].Rank < zone {
				inside++
			} else {
				outside++
			}
		}
		if zone == 0 || zone > of.population || outside == 0 {
			continue
		}
		for _, i := range members {
			if list[i].Rank < zone {
				weights[i] = float64(zone) / float64(inside)
			} else {
				weights[i] = float64(of.population-zone) / float64(outside)
			}
		}
	}
	return weights
}
