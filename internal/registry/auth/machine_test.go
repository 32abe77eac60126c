package auth_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/registry/auth"
	"promoter/internal/registry/auth/authtest"
)

func TestMetadataHosts_endpointsOfThePlatform(t *testing.T) {
	t.Parallel()
	fixed := []string{"169.254.169.254", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"}
	for value, want := range map[string]string{
		"":                                    "",
		"http://169.254.131.2:8081/msi/token": "169.254.131.2:8081",
		"http://localhost:42356/msi/token":    "localhost:42356",
		"http://[::1]:42356/msi/token":        "[::1]:42356",
		"https://127.0.0.1/x":                 "",
		"http://10.0.0.1/x":                   "",
		"http://192.168.0.1:80/x":             "",
		"http://metadata.google.internal/x":   "",
		"http://localhost.evil.test/x":        "",
		"://":                                 "",
	} {
		hosts := auth.MetadataHosts(func(name string) (string, bool) { return value, name == "IDENTITY_ENDPOINT" && value != "" })
		wanted := fixed
		if want != "" {
			wanted = append(fixed[:len(fixed):len(fixed)], want)
		}
		if diff := cmp.Diff(wanted, hosts); diff != "" {
			t.Errorf("%s: %s", value, diff)
		}
	}
}

func TestMetadataNetworks_singleAddresses(t *testing.T) {
	t.Parallel()
	var got []string
	for _, network := range auth.MetadataNetworks([]string{"169.254.169.254", "[fd00:ec2::23]", "localhost:80", "[::1]:81", "a.example.com"}) {
		got = append(got, network.String())
	}
	want := []string{"169.254.169.254/32", "fd00:ec2::23/128", "127.0.0.1/32", "::1/128", "::1/128"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	w := authtest.New(t)
	w.Files = map[string]string{"/a": " token\n", "/empty": "\n", "/large": strings.Repeat("a", 1<<20+1)}
	m := w.Machine()
	if got, err := m.File("f", "/a"); err != nil || got.Reveal() != "token" {
		t.Errorf("got %v, %v", got, err)
	}
	for path, want := range map[string]string{"/empty": "f: /empty is empty", "/large": "larger than", "/none": "f: open /none: file does not exist"} {
		if _, err := m.File("f", path); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
