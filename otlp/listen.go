package otlp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/proviso-eval/proviso"
)

// DefaultPort is the default port of OTLP over HTTP.
const DefaultPort = 4318

// Listener is a receiver that listens on a port of its own.
type Listener struct {
	server   http.Server
	listener net.Listener
	done     chan struct{}
	err      error // why serving ended; read it only after done
}

// Listen opens a port and serves r until Close. host is a name or an address of this machine; ""
// means 127.0.0.1. A negative port means DefaultPort, or a free port if DefaultPort is in use. 0
// means a free port. Any other port is used, or causes an error if it is not free.
func Listen(ctx context.Context, r *Receiver, host string, port int) (*Listener, error) {
	if host == "" {
		host = "127.0.0.1"
	}
	var c net.ListenConfig
	open := func(port int) (net.Listener, error) {
		return c.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	}
	wanted := port
	if port < 0 {
		wanted = DefaultPort
	}
	l, err := open(wanted)
	if err != nil && port < 0 && errors.Is(err, syscall.EADDRINUSE) {
		l, err = open(0)
	}
	if err != nil {
		return nil, unlistened(err, net.JoinHostPort(host, strconv.Itoa(wanted)))
	}
	mux := http.NewServeMux()
	mux.Handle(TracesPath, r)
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(failure(jsonType, &refusal{code: 5, message: "the only path is " + TracesPath}))
	})
	out := &Listener{listener: l, done: make(chan struct{}), server: http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}}
	go func() {
		defer close(out.done)
		if err := out.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			out.err = err
		}
	}()
	return out, nil
}

// unlistened explains why a port cannot be opened.
func unlistened(err error, address string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return proviso.Because(err, proviso.Conflict, "cannot receive traces at %s: something listens on that port already; name another under tracing.otlp.http.port, or 0 for a free one", address)
	}
	return proviso.Errorf(proviso.Unavailable, "cannot receive traces at %s: %w", address, err)
}

// Endpoint returns the URL for spans. If the receiver listens on all addresses, the URL has a
// loopback address.
func (l *Listener) Endpoint() string {
	address := l.listener.Addr().(*net.TCPAddr)
	ip := address.IP
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + net.JoinHostPort(ip.String(), strconv.Itoa(address.Port)) + TracesPath
}

// Port returns the port of the listener.
func (l *Listener) Port() int { return l.listener.Addr().(*net.TCPAddr).Port }

// Close stops listening. Requests in progress may finish, for at most a second. If the receiver
// ended earlier, the error is the reason.
func (l *Listener) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := l.server.Shutdown(ctx)
	if err != nil {
		err = l.server.Close()
	}
	<-l.done
	return errors.Join(l.err, err)
}
