package telemetry

import (
	"strings"
	"sync"
)

// maxHosts is how many hosts have labels besides those of the server's file. Config
// files of repositories name registries, so their number must not be theirs to
// choose.
const maxHosts = 50

// otherHosts stands for all hosts that have no label: no host can be called so.
const otherHosts = "(other)"

// hosts gives hosts their labels.
type hosts struct {
	mu    sync.Mutex
	known map[string]bool
	left  int
}

func newHosts(always []string) *hosts {
	h := &hosts{known: map[string]bool{}, left: maxHosts}
	for _, host := range always {
		h.known[strings.ToLower(host)] = true
	}
	return h
}

func (h *hosts) label(host string) string {
	host = strings.ToLower(host)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.known[host]:
	case h.left == 0:
		return otherHosts
	default:
		h.left--
		h.known[strings.Clone(host)] = true
	}
	return host
}
