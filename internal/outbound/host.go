package outbound

import "net/url"

// Host returns the host of a URL, with its port if it has one. It is empty for text
// that is not a URL.
func Host(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// Hostname returns a host without its port.
func Hostname(host string) string { return (&url.URL{Host: host}).Hostname() }
