package updater_test

import (
	"context"
	"fmt"
	"iter"

	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/site"
)

// webOnly follows one image as the component web.
type webOnly struct{}

func (webOnly) Follow(_ string, r image.Repository) (site.Followed, bool) {
	return site.Followed{Component: "web", Repository: r}, r.String() == "quay.io/acme/web"
}

func (webOnly) Named(string, string) (site.Followed, bool) { return site.Followed{}, false }

func (webOnly) Literals() []string { return []string{"web"} }

func Example() {
	ctx := context.Background()
	kustomization := updater.File{Path: "apps/shop/kustomization.yaml", Read: func() ([]byte, error) {
		return []byte("images:\n  - name: quay.io/acme/web # the shop\n    newTag: \"1.4.2\"\n"), nil
	}}
	branch := iter.Seq2[updater.File, error](func(yield func(updater.File, error) bool) { yield(kustomization, nil) })

	inventory, err := updater.New(webOnly{}, updater.Options{}).Scan(ctx, branch)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reference := range inventory.References {
		fmt.Println(reference.Position, reference.Component, reference.Tag)
	}
	result := inventory.Rewrite(ctx, kustomization, func(string) (image.Version, bool) {
		return image.Version{Tag: "1.5.0"}, true
	})
	fmt.Print(string(result.Content))
	// Output:
	// apps/shop/kustomization.yaml:3:13 web 1.4.2
	// images:
	//   - name: quay.io/acme/web # the shop
	//     newTag: "1.5.0"
}
