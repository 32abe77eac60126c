package imports_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/imports"
	"promoter/internal/suggest"
	"promoter/internal/suggest/bots"
)

// row is a row of a table from the tests of another tool: what it selects of some tags.
type row struct {
	Source, Case, Policy string
	Params               struct {
		Range, Order, Pattern, Extract      string
		AllowTagsRegexes, IgnoreTagsRegexes []string
		StrictSemvers                       *bool
	}
	Tags        []string
	Expect      json.RawMessage
	ExpectError bool `json:"expect_error"`
}

func rows(t *testing.T, name string) (all []row) {
	t.Helper()
	corpus := os.Getenv("PROMOTER_CORPUS")
	if corpus == "" {
		t.Skip("PROMOTER_CORPUS is not set: the tables of other projects are not at hand")
	}
	data, err := os.ReadFile(filepath.Join(corpus, "policies", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// imported imports files and returns the policy of the only component, nil without one.
func imported(t *testing.T, tool imports.Tool, files map[string]string, references ...edit.Reference) *image.Policy {
	t.Helper()
	found := imports.Found{Found: suggest.Found{References: references}, Settings: map[string][]byte{}}
	for file, content := range files {
		found.Settings[file] = []byte(content)
		found.Files = append(found.Files, file)
	}
	found.Bots = bots.Read(found.Settings)
	result, err := imports.Config(tool, found)
	if err != nil {
		return nil
	}
	loaded, problems := config.Load(config.FileName, []byte(result.Text))
	if problems.Err() != nil || len(loaded.Components) != 1 {
		t.Fatalf("the config has %d components: %v\n%s", len(loaded.Components), problems.Err(), result.Text)
	}
	policy, err := image.NewPolicy(loaded.Components[0].Select.Selection)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func fluxFiles(policy string) (map[string]string, edit.Reference) {
	repository, _ := image.ParseRepository("registry.example.com/team/web")
	files := map[string]string{
		"images.yaml": "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: web, namespace: x}\nspec: {image: registry.example.com/team/web}\n---\n" +
			"apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: web, namespace: x}\nspec:\n  imageRepositoryRef: {name: web}\n" + policy + "---\n" +
			"apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: {name: web, namespace: x}\nspec: {update: {path: ./apps}}\n",
		"apps/web.yaml": "image: registry.example.com/team/web:now # {\"$imagepolicy\": \"x:web\"}\n",
	}
	return files, edit.Reference{
		Position: edit.Position{File: "apps/web.yaml", Line: 1, Column: 8}, Shape: "container", Repository: repository, Tag: "now",
	}
}

// Over the same tags, an imported policy of Flux selects the tag that Flux selects, or fewer: where
// a policy has no equivalent, none but the tag in the file.
func TestConfig_selectsAsFlux(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t, "flux-policies.json") {
		t.Run(r.Policy+"/"+r.Case, func(t *testing.T) {
			t.Parallel()
			parameters := map[string]string{"semver": fmt.Sprintf("range: %q", r.Params.Range)}[r.Policy]
			if parameters == "" {
				parameters = fmt.Sprintf("order: %q", r.Params.Order)
			}
			files, reference := fluxFiles("  policy: {" + r.Policy + ": {" + parameters + "}}\n")
			policy := imported(t, imports.Flux, files, reference)
			if policy == nil {
				return
			}
			want := ""
			_ = json.Unmarshal(r.Expect, &want) // null: nothing is selected
			if r.ExpectError && r.Policy == "numerical" {
				return // Flux gives up on a list with a tag that is no number; promoter leaves that tag out
			}
			selected := ""
			if ordered := policy.Candidates(r.Tags).Ordered; len(ordered) > 0 {
				selected = ordered[0].Tag
			}
			if selected != want && selected != "" && !sameOrder(r.Policy, selected, want) {
				t.Errorf("of %q, promoter selects %q and Flux %q", r.Tags, selected, want)
			}
		})
	}
}

// sameOrder reports whether two tags are the same version, or none of Flux's is comparable.
func sameOrder(policy, a, b string) bool {
	return policy == "semver" && strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}

// An imported filter of Flux accepts no tag that Flux filters out.
func TestConfig_filtersAsFlux(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t, "flux-filter-tags.json") {
		t.Run(r.Case, func(t *testing.T) {
			t.Parallel()
			files, reference := fluxFiles(fmt.Sprintf("  filterTags: {pattern: %q, extract: %q}\n  policy: {alphabetical: {order: asc}}\n", r.Params.Pattern, r.Params.Extract))
			policy := imported(t, imports.Flux, files, reference)
			var extracted []string
			if err := json.Unmarshal(r.Expect, &extracted); err != nil || policy == nil {
				return
			}
			for _, candidate := range policy.Candidates(r.Tags).Ordered {
				if !slices.Contains(extracted, candidate.Version) {
					t.Errorf("promoter accepts %v, and Flux %q", candidate, extracted)
				}
			}
		})
	}
}

func kargoFiles(strategy string, r row) map[string]string {
	subscription, _ := json.Marshal(map[string]any{
		"repoURL": "registry.example.com/team/web", "imageSelectionStrategy": strategy,
		"allowTagsRegexes": r.Params.AllowTagsRegexes, "ignoreTagsRegexes": r.Params.IgnoreTagsRegexes, "strictSemvers": r.Params.StrictSemvers,
	})
	return map[string]string{
		"kargo.yaml": "apiVersion: kargo.akuity.io/v1alpha1\nkind: Warehouse\nmetadata: {name: web, namespace: x}\nspec: {subscriptions: [{image: " + string(subscription) + "}]}\n---\n" +
			"apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {name: dev, namespace: x}\nspec:\n  requestedFreight: [{origin: {kind: Warehouse, name: web}, sources: {direct: true}}]\n" +
			"  promotionTemplate: {spec: {steps: [{uses: kustomize-set-image, config: {path: env/dev}}]}}\n",
	}
}

// An imported subscription of Kargo accepts no tag that Kargo refuses, and orders the others in the
// same way.
func TestConfig_selectsAsKargo(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t, "kargo-selectors.json") {
		t.Run(r.Policy+"/"+r.Case, func(t *testing.T) {
			t.Parallel()
			strategy := "Lexical"
			if strings.Contains(r.Policy, "semver") {
				strategy = "SemVer"
			}
			policy := imported(t, imports.Kargo, kargoFiles(strategy, r))
			if policy == nil {
				t.Fatal("nothing was imported")
			}
			var accepted bool
			var want []string
			switch ordered := tagsOf(policy.Candidates(r.Tags)); {
			case json.Unmarshal(r.Expect, &accepted) == nil:
				if got := len(ordered) > 0; got && !accepted {
					t.Errorf("promoter accepts %q", r.Tags)
				}
			case json.Unmarshal(r.Expect, &want) == nil && r.Policy == "sort-newest-build-desc":
				// promoter orders by created times too, which come from the registry
			case strategy == "SemVer":
				if !slices.Equal(ordered, want) {
					t.Errorf("promoter orders %q, and Kargo %q", ordered, want)
				}
			default:
				for _, tag := range ordered {
					if !slices.Contains(want, tag) {
						t.Errorf("promoter accepts %q, and Kargo %q", tag, want)
					}
				}
			}
		})
	}
}

func tagsOf(c image.Candidates) (tags []string) {
	for _, candidate := range c.Ordered {
		tags = append(tags, candidate.Tag)
	}
	return tags
}

func FuzzConfig(f *testing.F) {
	f.Add("kargo", "apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {name: a}\nspec: {promotionTemplate: {spec: {steps: [{uses: yaml-update, config: {path: '${{ vars.x }}'}}]}}}\n")
	f.Add("gitops-promoter", "apiVersion: promoter.argoproj.io/v1alpha1\nkind: PromotionStrategy\nspec: {environments: [{branch: ../x, dependsOn: [y]}]}\n")
	f.Add("appstudio", "apiVersion: appstudio.redhat.com/v1alpha1\nkind: Component\nspec: {containerImage: ':@'}\n---\napiVersion: appstudio.redhat.com/v1alpha1\nkind: Environment\nmetadata: {name: x}\n")
	f.Fuzz(func(t *testing.T, tool, content string) {
		found := imports.Found{Settings: map[string][]byte{"a.yaml": []byte(content)}}
		result, err := imports.Config(imports.Tool(tool), found)
		if err != nil {
			return
		}
		if _, problems := config.Load(config.FileName, []byte(result.Text)); problems.Err() != nil {
			t.Errorf("the config does not load: %v\n%s", problems.Err(), result.Text)
		}
	})
}
