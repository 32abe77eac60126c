// Package auth holds what the cloud logins in its subpackages share: access to the
// machine that promoter runs on, and a guarded HTTP client for the vendors'
// libraries.
//
// The libraries get every input from here. They run no program, choose no
// credential on their own, and reach the network only through the guarded client.
// An endpoint that the environment names is called over plain HTTP only if its
// address is loopback or link-local.
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

// Machine gives a login access to the machine that promoter runs on.
type Machine struct {
	// Vendor is the guarded transport to the services of the clouds.
	Vendor http.RoundTripper
	// Metadata is the transport to the services of the machine itself and to
	// nothing else, see MetadataHosts.
	Metadata http.RoundTripper
	// Env reads an environment variable.
	Env func(string) (string, bool)
	// Open opens a file that the environment or the server file names.
	Open func(path string) (io.ReadCloser, error)
	// Now is the clock.
	Now func() time.Time
}

// Var returns an environment variable, or "" if it is not set.
func (m Machine) Var(name string) string {
	value, _ := m.Env(name)
	return strings.TrimSpace(value)
}

// maxFile bounds a file with a token, a key or a profile.
const maxFile = 1 << 20

// File reads a file. Errors begin with what and never contain the file's content.
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

// The addresses of the clouds' metadata and credential services.
const (
	// Instance is the metadata service of a virtual machine at AWS, Google and
	// Azure, and of a GKE pod.
	Instance = "169.254.169.254"
	// Task is the credential service of an ECS task.
	Task = "169.254.170.2"
	// Pod and Pod6 are the EKS Pod Identity agent.
	Pod  = "169.254.170.23"
	Pod6 = "fd00:ec2::23"
)

// endpointVariables are the variables in which a platform names a service of its
// own for the process.
var endpointVariables = []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "IDENTITY_ENDPOINT"}

// MetadataHosts returns the hosts, with port if any, that Machine.Metadata may call
// over plain HTTP: the fixed addresses above, and the endpoints in the environment
// that are loopback or link-local.
func MetadataHosts(env func(string) (string, bool)) []string {
	hosts := []string{Instance, Task, Pod, "[" + Pod6 + "]"}
	for _, name := range endpointVariables {
		text, set := env(name)
		if !set {
			continue
		}
		address, err := url.Parse(strings.TrimSpace(text))
		if err == nil && address.Scheme == "http" && isLocal(address.Hostname()) {
			hosts = append(hosts, address.Host)
		}
	}
	return hosts
}

func isLocal(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr.IsLoopback() || addr.IsLinkLocalUnicast())
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
