package main

import "math/bits"

// mt19937 is the Mersenne Twister (Matsumoto and Nishimura 1998), seeded and read as in
// Python's random module, so that the workloads are those of the recorded figures.
type mt19937 struct {
	state [624]uint32
	next  int
}

// newRandom seeds like random.Random(seed) for a small integer: init_by_array of one word.
func newRandom(seed uint32) *mt19937 {
	r := &mt19937{next: 624}
	s := &r.state
	s[0] = 19650218
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i := 1
	next := func() {
		if i++; i == len(s) {
			s[0], i = s[len(s)-1], 1
		}
	}
	for range len(s) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + seed
		next()
	}
	for range len(s) - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		next()
	}
	s[0] = 0x80000000
	return r
}

func (r *mt19937) uint32() uint32 {
	if r.next == len(r.state) {
		r.twist()
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (r *mt19937) twist() {
	s := &r.state
	for i := range s {
		y := s[i]&0x80000000 | s[(i+1)%624]&0x7fffffff
		s[i] = s[(i+397)%624] ^ y>>1
		if y&1 != 0 {
			s[i] ^= 0x9908b0df
		}
	}
	r.next = 0
}

// float64 is random.random().
func (r *mt19937) float64() float64 {
	a, b := r.uint32()>>5, r.uint32()>>6
	return (float64(a)*67108864 + float64(b)) / 9007199254740992
}

// below is random._randbelow.
func (r *mt19937) below(n int) int {
	shift := 32 - bits.Len(uint(n))
	for {
		if v := int(r.uint32() >> shift); v < n {
			return v
		}
	}
}
