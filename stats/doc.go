// Package stats turns counts into intervals: numbers in, numbers out. Start at
// [Wilson], the interval shown beside every pass rate.
package stats
