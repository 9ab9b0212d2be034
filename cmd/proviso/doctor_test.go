package main

import (
	"testing"

	"github.com/proviso-eval/proviso/doctor"
)

// TestDoctorCode: a sandbox that leaks takes precedence over a suite that cannot run.
func TestDoctorCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		selfTest string
		suite    *doctor.Suite
		want     int
	}{
		{doctor.SelfTestFailed, &doctor.Suite{}, exitUndecided},
		{doctor.SelfTestPassed, &doctor.Suite{}, exitUsage},
		{doctor.SelfTestPassed, nil, exitOK},
		{doctor.SelfTestNotRun, &doctor.Suite{Ready: true}, exitOK},
	} {
		if got := doctorCode(&doctor.Diagnosis{Sandbox: doctor.Sandbox{SelfTest: c.selfTest}, Suite: c.suite}); got != c.want {
			t.Errorf("%s, %+v: exit code %d, want %d", c.selfTest, c.suite, got, c.want)
		}
	}
}
