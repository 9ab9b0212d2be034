package postgrestest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Computed returns the processor time of the server and of its current child processes on
// Linux, elsewhere 0. It excludes connections that have ended, but includes children that the
// server waited for.
func (s *Server) Computed() (sum time.Duration) {
	if s.ended == nil {
		return 0
	}
	parent := fmt.Sprint(s.command.Process.Pid)
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it ended
		}
		pid := strings.Split(name, "/")[2]
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest) // from the state, which is field 3 of proc(5)
		if len(fields) < 15 || pid != parent && fields[1] != parent {
			continue
		}
		last := 13
		if pid == parent {
			last = 15
		}
		for _, field := range fields[11:last] {
			var ticks int64
			_, _ = fmt.Sscan(field, &ticks)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}
