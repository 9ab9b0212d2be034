package solve

import "slices"

// Close returns the transitive closure of implications, sorted, without pairs of
// a candidate with itself.
func Close(candidates int, implies [][2]int) [][2]int {
	next := successors(candidates, implies)
	var out [][2]int
	seen := make([]int, candidates)
	for a := range candidates {
		for stack := []int{a}; len(stack) > 0; {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, b := range next[at] {
				if seen[b] != a+1 {
					seen[b] = a + 1
					stack = append(stack, b)
					if b != a {
						out = append(out, [2]int{a, b})
					}
				}
			}
		}
	}
	slices.SortFunc(out, comparePairs)
	return out
}

// Contradicted returns the implications that an example contradicts: it passes the first
// candidate and fails the second.
func Contradicted(in *Instance) [][2]int {
	var out [][2]int
	for _, p := range in.Implies {
		a := in.Fails[p[0]]
		for _, i := range in.Fails[p[1]] {
			if _, ok := slices.BinarySearch(a, i); !ok {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func comparePairs(a, b [2]int) int {
	if a[0] != b[0] {
		return a[0] - b[0]
	}
	return a[1] - b[1]
}

func successors(n int, implies [][2]int) [][]int {
	next := make([][]int, n)
	for _, p := range implies {
		if p[0] != p[1] && !slices.Contains(next[p[0]], p[1]) {
			next[p[0]] = append(next[p[0]], p[1])
		}
	}
	return next
}

// Classes returns, for each candidate, the lowest candidate that it implies and that implies
// it, directly or indirectly; without such a cycle, itself. (Tarjan, "Depth-first search and
// linear graph algorithms", SIAM Journal on Computing 1, 1972, without recursion.)
func Classes(candidates int, implies [][2]int) []int {
	t := tarjan{
		next: successors(candidates, implies), class: make([]int, candidates),
		order: make([]int, candidates), low: make([]int, candidates), at: make([]int, candidates),
	}
	for j := range candidates {
		if t.order[j] == 0 {
			t.visit(j)
		}
	}
	return t.class
}

type tarjan struct {
	next           [][]int
	order, low, at []int // order is 0 if not visited, -1 if its class is known
	class          []int
	stack          []int
	count          int
}

func (t *tarjan) enter(j int) {
	t.count++
	t.order[j], t.low[j] = t.count, t.count
	t.stack = append(t.stack, j)
}

func (t *tarjan) visit(root int) {
	t.enter(root)
	for path := []int{root}; len(path) > 0; {
		j := path[len(path)-1]
		if t.at[j] < len(t.next[j]) {
			k := t.next[j][t.at[j]]
			t.at[j]++
			switch {
			case t.order[k] == 0:
				t.enter(k)
				path = append(path, k)
			case t.order[k] > 0:
				t.low[j] = min(t.low[j], t.order[k])
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1]
			t.low[up] = min(t.low[up], t.low[j])
		}
		if t.low[j] == t.order[j] {
			t.leave(j)
		}
	}
}

// leave pops the class that ends with j off the stack.
func (t *tarjan) leave(j int) {
	first := slices.Index(t.stack, j)
	members := t.stack[first:]
	lowest := slices.Min(members)
	for _, k := range members {
		t.class[k], t.order[k] = lowest, -1
	}
	t.stack = t.stack[:first]
}

// sources returns the lowest member of each class that no other class implies: a smallest set
// that implies all candidates (section 3.3.3).
func (in *Instance) sources() []int {
	class := Classes(len(in.Fails), in.Implies)
	implied := make([]bool, len(in.Fails))
	for _, p := range in.Implies {
		if a, b := class[p[0]], class[p[1]]; a != b {
			implied[b] = true
		}
	}
	return in.every(func(j int) bool { return class[j] == j && !implied[j] })
}
