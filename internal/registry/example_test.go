package registry_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	inprocess "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"promoter/internal/image"
	"promoter/internal/outbound"
	"promoter/internal/registry"
)

// Select the best version of an image below 2.0, from a registry in this process.
func ExampleView_Select() {
	server := httptest.NewServer(inprocess.New(inprocess.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		panic(err)
	}
	for _, tag := range []string{"1.4.0", "1.10.0", "2.0.0", "latest"} {
		push(address.Host + "/acme/web:" + tag)
	}

	guarded, err := outbound.New(outbound.Options{AllowLoopback: true, Now: time.Now})
	if err != nil {
		panic(err)
	}
	client, err := registry.New(registry.Options{Outbound: guarded, Now: time.Now})
	if err != nil {
		panic(err)
	}
	repository, err := image.ParseRepository(address.Host + "/acme/web")
	if err != nil {
		panic(err)
	}
	policy, err := image.NewPolicy(image.Selection{Semver: "<2"})
	if err != nil {
		panic(err)
	}
	batch := client.Batch() // one per reconciliation
	selected, err := batch.For("github.com/acme/gitops").Select(context.Background(), registry.Request{Repository: repository, Policy: policy})
	fmt.Println(selected.Found, selected.Version.Tag, err)
	// Output: true 1.10.0 <nil>
}

func push(reference string) {
	tag, err := name.NewTag(reference, name.Insecure)
	if err != nil {
		panic(err)
	}
	img, err := random.Image(64, 1)
	if err != nil {
		panic(err)
	}
	if err := remote.Write(tag, img); err != nil {
		panic(err)
	}
}
