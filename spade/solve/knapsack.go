package solve

import "math"

// split reorders order so that the first cut have the highest ratios and fit into
// capacity together, and returns which part of the next one still fits.
func split(order []int32, ratio, size []float64, capacity float64) (cut int, part float64) {
	lo, hi := 0, len(order)
	if capacity <= 0 {
		return 0, 0
	}
	for hi-lo > 1 {
		at := partition(order[lo:hi], ratio) + lo
		sum := 0.0
		for _, i := range order[lo:at] {
			sum += size[i]
		}
		if sum > capacity {
			hi = at
			continue
		}
		capacity -= sum
		lo = at
	}
	if lo < hi {
		if s := size[order[lo]]; s <= capacity {
			lo++
			capacity -= s
		} else {
			return lo, capacity / s
		}
	}
	return lo, 0
}

// partition puts the higher ratios of order, which has two members or more, first
// and returns how many there are: at least one, and not all.
func partition(order []int32, ratio []float64) int {
	a, b, c := ratio[order[0]], ratio[order[len(order)/2]], ratio[order[len(order)-1]]
	pivot := math.Max(math.Min(a, b), math.Min(math.Max(a, b), c))
	i, j := 0, len(order)-1
	for {
		for ratio[order[i]] > pivot {
			i++
		}
		for ratio[order[j]] < pivot {
			j--
		}
		if i >= j {
			break
		}
		order[i], order[j] = order[j], order[i]
		i++
		j--
	}
	if i == 0 {
		return 1
	}
	return min(i, len(order)-1)
}
