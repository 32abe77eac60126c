package auth

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// Machine is what a process knows of where it runs.
type Machine struct {
	// Vendor is the guarded way out, to the services of the clouds.
	Vendor http.RoundTripper
	// Metadata is the way to the services of the machine itself, and to nothing
	// else: see MetadataHosts.
	Metadata http.RoundTripper
	// Env reads a variable of the environment.
	Env func(string) (string, bool)
	// Open opens a file that the environment or the server's file names.
	Open func(path string) (io.ReadCloser, error)
	// Now is the clock.
	Now func() time.Time
}

// Var returns a variable of the environment; empty: it is not set.
func (m Machine) Var(name string) string {
	value, _ := m.Env(name)
	return strings.TrimSpace(value)
}

// maxFile bounds a file with a token, a key or a profile.
const maxFile = 1 << 20

// File reads a file. What it is, in words, is what an error begins with; the
// error holds nothing of what the file says.
func (m Machine) File(what, path string) (secret.String, error) {
	file, err := m.Open(path)
	if err != nil {
		return secret.String{}, fault.New(fault.Invalid, "%s: %w", what, err)
	}
	defer func() { _ = file.Close() }()
	data, err := outbound.ReadAll(file, maxFile)
	if err != nil {
		return secret.String{}, fault.New(fault.Invalid, "%s: read %s: %w", what, path, err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return secret.String{}, fault.New(fault.Invalid, "%s: %s is empty", what, path)
	}
	return secret.New(text), nil
}

// The addresses at which clouds answer questions of their own machines.
const (
	// Instance is the metadata service of a virtual machine, at AWS, Google and
	// Azure alike, and of a pod of Google's Kubernetes.
	Instance = "169.254.169.254"
	// Task is the credential service of an ECS task.
	Task = "169.254.170.2"
	// Pod and Pod6 are the agent of EKS Pod Identity.
	Pod  = "169.254.170.23"
	Pod6 = "fd00:ec2::23"
)

// endpoints are the variables in which a platform names a service of its own for
// the process.
var endpoints = []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "IDENTITY_ENDPOINT"}

// MetadataHosts returns the hosts, with port where they have one, that Metadata
// may ask in plain http: the fixed addresses above, and what the platform named in
// the environment if it is the machine itself or link-local.
func MetadataHosts(env func(string) (string, bool)) []string {
	hosts := []string{Instance, Task, Pod, "[" + Pod6 + "]"}
	for _, name := range endpoints {
		text, set := env(name)
		if !set {
			continue
		}
		address, err := url.Parse(strings.TrimSpace(text))
		if err == nil && address.Scheme == "http" && onThisMachine(address.Hostname()) {
			hosts = append(hosts, address.Host)
		}
	}
	return hosts
}

// MetadataNetworks returns the addresses of these hosts.
func MetadataNetworks(hosts []string) []netip.Prefix {
	var networks []netip.Prefix
	for _, host := range hosts {
		name := (&url.URL{Host: host}).Hostname()
		if name == "localhost" {
			networks = append(networks, netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128"))
		} else if addr, err := netip.ParseAddr(name); err == nil {
			networks = append(networks, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return networks
}

func onThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr.IsLoopback() || addr.IsLinkLocalUnicast())
}
