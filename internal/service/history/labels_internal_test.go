package history

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/config"
)

// Many entries of a config file may give labels to one application, which are stored with each of its targets.
func TestLabelsOf_keepsAFew(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\n" +
		"environments:\n  dev: {paths: [\"{application}\"], labels: {region: eu}}\napplications:\n")
	for i := range 10 {
		fmt.Fprintf(&text, "  \"%s*\":\n    labels:\n", "shopping-cart"[:i+1])
		for j := range 20 {
			fmt.Fprintf(&text, "      l%d-%d: x\n", i, j)
		}
	}
	c, problems := config.Load(config.FileName, []byte(text.String()))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	environment, _ := c.Environment("dev")
	if got := labelsOf(c, environment, "shopping-cart"); len(got) != maxTargetLabels {
		t.Errorf("%d labels", len(got))
	}
	if got := labelsOf(c, environment, "blog"); len(got) != 1 || got["region"] != "eu" {
		t.Errorf("got %v", got)
	}
}
