package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// processorTime returns the processor time of all threads of a process, from
// /proc/PID/stat (proc_pid_stat(5)); 0 if it is unknown.
func processorTime(pid int) time.Duration {
	const ticks = 100 // USER_HZ, per second: the same on all systems that Go runs on
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // after the name, which code can choose
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
	system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * (time.Second / ticks)
}
