package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Backoff is a host that is sent nothing for some time.
type Backoff struct {
	Target, Host string
	Remaining    time.Duration
}

// pauses is a prometheus.Collector.
type pauses struct {
	list  func() []Backoff
	hosts *hosts
	left  *prometheus.Desc
}

func newPauses(list func() []Backoff, hosts *hosts) *pauses {
	if list == nil {
		list = func() []Backoff { return nil }
	}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	return &pauses{list: list, hosts: hosts, left: desc("host_pause_seconds", "How long a host is sent nothing yet.", "to", "host")}
}

// Describe implements prometheus.Collector.
func (p *pauses) Describe(to chan<- *prometheus.Desc) { to <- p.left }

// Collect implements prometheus.Collector. Of the hosts that share a label the longest
// pause is told.
func (p *pauses) Collect(to chan<- prometheus.Metric) {
	left := map[[2]string]time.Duration{}
	for _, one := range p.list() {
		labels := [2]string{one.Target, p.hosts.label(one.Host)}
		left[labels] = max(left[labels], one.Remaining)
	}
	for labels, longest := range left {
		to <- prometheus.MustNewConstMetric(p.left, prometheus.GaugeValue, longest.Seconds(), labels[0], labels[1])
	}
}
