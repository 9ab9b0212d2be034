package main

// pySet is a set of small whole numbers that is gone through in the order in
// which CPython goes through a set (Objects/setobject.c, since 3.7): the figures
// that an instance draws for the members of a set depend on it. Nothing is ever
// taken out of it.
type pySet struct {
	slots []int32 // -1 where free; a power of two
	used  int
}

const (
	pySetSmallest = 8
	pySetProbes   = 9 // slots that are tried next to the first
)

func newPySet(members []int32) *pySet {
	s := &pySet{slots: freeSlots(pySetSmallest)}
	for _, v := range members {
		s.add(v)
	}
	return s
}

func freeSlots(n int) []int32 {
	slots := make([]int32, n)
	for i := range slots {
		slots[i] = -1
	}
	return slots
}

// place puts v where CPython would and tells whether it was new.
func (s *pySet) place(v int32) bool {
	mask := uint(len(s.slots) - 1)
	perturb := uint(v) // a number is its own hash
	for at := perturb & mask; ; at = (at*5 + 1 + perturb) & mask {
		last := at
		if at+pySetProbes <= mask {
			last += pySetProbes
		}
		for i := at; i <= last; i++ {
			switch s.slots[i] {
			case v:
				return false
			case -1:
				s.slots[i] = v
				return true
			}
		}
		perturb >>= 5
	}
}

func (s *pySet) add(v int32) {
	if !s.place(v) {
		return
	}
	s.used++
	if s.used*5 >= (len(s.slots)-1)*3 {
		more := s.used * 4
		if s.used > 50000 {
			more = s.used * 2
		}
		s.resize(more)
	}
}

// resize makes the table larger than least.
func (s *pySet) resize(least int) {
	n := pySetSmallest
	for n <= least {
		n *= 2
	}
	old := s.slots
	s.slots = freeSlots(n)
	for _, v := range old {
		if v >= 0 {
			s.place(v)
		}
	}
}

// union is s | other.
func (s *pySet) union(other *pySet) *pySet {
	both := newPySet(nil)
	both.merge(s)
	both.merge(other)
	return both
}

// merge is s |= other.
func (s *pySet) merge(other *pySet) {
	if other.used == 0 {
		return
	}
	if (s.used+other.used)*5 >= (len(s.slots)-1)*3 {
		s.resize((s.used + other.used) * 2)
	}
	if s.used == 0 && len(s.slots) == len(other.slots) { // CPython copies the table as it is
		copy(s.slots, other.slots)
		s.used = other.used
		return
	}
	grow := s.used > 0 // an empty one was made large enough
	for _, v := range other.slots {
		switch {
		case v < 0:
		case grow:
			s.add(v)
		case s.place(v):
			s.used++
		}
	}
}

// members returns the members in order.
func (s *pySet) members() []int32 {
	list := make([]int32, 0, s.used)
	for _, v := range s.slots {
		if v >= 0 {
			list = append(list, v)
		}
	}
	return list
}
