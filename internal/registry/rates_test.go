package registry_test

import (
	"testing"

	"promoter/internal/registry"
)

func TestMostPerSecond(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]float64{
		"quay.io": 10, "quay.io:443": 10, "QUAY.IO": 10, "notquay.io": 1000, "registry.example.com:5000": 1000, "ghcr.io": 1000,
		"acme.azurecr.io": 50, "azurecr.io": 1000, "europe-docker.pkg.dev": 200, "eu.gcr.io": 200, "gcr.io": 200,
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com": 200, "public.ecr.aws": 10, "registry-1.docker.io": 50,
	} {
		if got := registry.MostPerSecond(host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}
