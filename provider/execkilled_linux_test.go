package provider_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
)

// TestExecDiesWithParent kills a process with SIGKILL while it runs a command.
// The command must not survive.
func TestExecDiesWithParent(t *testing.T) {
	const inside = "PROVISO_TEST_EXEC_PARENT"
	if name := os.Getenv(inside); name != "" {
		p := command(t, "echo $$ > "+name+".new && mv "+name+".new "+name+" && exec sleep 600", provider.Options{}, nil)
		_, err := p.Answer(t.Context(), proviso.Ask{})
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "pid")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExecDiesWithParent$")
	cmd.Env = append(os.Environ(), inside+"="+name)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := ""
	for deadline := time.Now().Add(20 * time.Second); pid == "" && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(name)
		pid = strings.TrimSpace(string(data))
	}
	if pid == "" || !lives(pid) {
		t.Fatalf("no command runs: %q", pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); lives(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %s goes on", pid)
		}
	}
}

// TestExecOutlivesThreads: the kernel kills a command when the thread that started it ends. Threads
// end while commands run, and no command may end because of that.
func TestExecOutlivesThreads(t *testing.T) {
	t.Parallel()
	p := command(t, "sleep 0.3; echo done", provider.Options{}, nil)
	stop := make(chan struct{})
	var threads sync.WaitGroup
	threads.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			ended := make(chan struct{})
			go func() { // a goroutine that ends while locked ends its thread
				defer close(ended)
				runtime.LockOSThread()
			}()
			<-ended
		}
	})
	var runs sync.WaitGroup
	for range 20 {
		runs.Go(func() {
			if out, err := p.Answer(t.Context(), proviso.Ask{}); err != nil || out.Value != "done" {
				t.Errorf("%v, %v", out.Value, err)
			}
		})
	}
	runs.Wait()
	close(stop)
	threads.Wait()
}

// lives reports whether a process exists and is not a zombie.
func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
