package image_test

import (
	"fmt"

	"promoter/internal/image"
)

func ExampleParse() {
	reference, err := image.Parse("index.docker.io/nginx:1.27@sha256:4c0fdaa8b6341bfdeca5f18f7837462c80cff90527ee35ef185571e1c327beac")
	if err != nil {
		panic(err)
	}
	fmt.Println(reference.Repository)
	fmt.Println(reference.Tag)
	fmt.Println(reference.Name)
	// Output:
	// docker.io/library/nginx
	// 1.27
	// index.docker.io/nginx
}

func ExamplePolicy_Compare() {
	policy, err := image.NewPolicy(image.Selection{Semver: "^1"})
	if err != nil {
		panic(err)
	}
	fmt.Println(policy.Candidates([]string{"1.9.0", "1.10.0", "2.0.0", "latest"}).Ordered)
	order, ok := policy.Compare(image.Version{Tag: "1.10.0"}, image.Version{Tag: "1.9.0"})
	fmt.Println(order > 0, ok)
	// Output:
	// [{1.10.0 1.10.0} {1.9.0 1.9.0}]
	// true true
}
