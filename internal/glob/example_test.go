package glob_test

import (
	"fmt"

	"promoter/internal/glob"
)

func ExampleParsePath() {
	path, err := glob.ParsePath("apps/{application}/overlays/dev")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(path.Match("apps/shop/overlays/dev/kustomization.yaml"))
	fmt.Println(path.Match("apps/shop/overlays/prod/kustomization.yaml"))
	// Output:
	// shop true
	//  false
}
