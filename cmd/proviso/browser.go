package main

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// viewStop is how long requests may take to end when view ends.
const viewStop = 2 * time.Second

// browser returns the command that opens an address in the browser of this system; nil
// if the browser could not be seen here, as without a display or over SSH.
func (a *app) browser(link string) []string {
	has := func(names ...string) bool {
		for _, name := range names {
			if v, _ := a.env.Lookup(name); v != "" {
				return true
			}
		}
		return false
	}
	display := has("DISPLAY", "WAYLAND_DISPLAY")
	switch {
	case !display && has("SSH_CONNECTION", "SSH_TTY"):
		return nil
	case runtime.GOOS == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", link}
	case runtime.GOOS == "darwin":
		return []string{"open", link}
	case display:
		return []string{"xdg-open", link}
	}
	return nil
}

// openBrowser opens an address, which was printed already, without waiting.
func (a *app) openBrowser(ctx context.Context, link string) {
	command := a.browser(link)
	if command == nil {
		return
	}
	go func() {
		cmd := exec.Command(command[0], command[1:]...) // outlives view if it is the browser itself
		if err := cmd.Run(); err != nil && ctx.Err() == nil {
			a.warn("no browser was opened (" + command[0] + ": " + err.Error() + "); open the link above")
		}
	}()
}
