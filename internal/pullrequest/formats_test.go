package pullrequest_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/identity"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// formats is docs/formats.md. The tests below compare its examples with the code:
// a failure means that a format changed, which breaks existing repositories.
func formats(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// formatBlocks returns the code blocks of a language.
func formatBlocks(t *testing.T, language string, want int) []string {
	t.Helper()
	var blocks []string
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(formats(t), -1) {
		blocks = append(blocks, found[1])
	}
	if len(blocks) != want {
		t.Fatalf("the page has %d blocks of %s, want %d", len(blocks), language, want)
	}
	return blocks
}

func TestFormats_ids(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(formatBlocks(t, "text", 4)[0]), "\n")
	id, promoted := slices.Index(lines, "# id"), slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "# promotion") })
	if id < 0 || promoted < 0 {
		t.Fatalf("the example is %q", lines)
	}
	var images []string
	for _, line := range lines[1:id] {
		images = append(images, strings.TrimSuffix(line, "@"))
	}
	snapshot := promotiontest.SnapshotOfImages(t, images...)
	if got := lines[id+1]; got != snapshot.ID() {
		t.Errorf("the page says %s, the id is %s", got, snapshot.ID())
	}
	key, err := identity.ForgeKey("github.com", "4711")
	if err != nil {
		t.Fatal(err)
	}
	want := promotion.ID(key, promotion.Target{Environment: "prod", Application: "shop"}, snapshot.ID(), 2)
	if got := lines[promoted+1]; got != want {
		t.Errorf("the page says %s, the promotion is %s", got, want)
	}
}

func TestFormats_names(t *testing.T) {
	t.Parallel()
	plain, err := identity.GitKey("https://ann:secret@GIT.example.com:443/acme/gitops.git/")
	if err != nil {
		t.Fatal(err)
	}
	page := formats(t)
	for _, word := range []string{
		string(plain), promotion.HeadBranch("ENVIRONMENT", "APPLICATION"), promotion.GroupBranch("ENVIRONMENT"), state.Branch,
		promotion.TrailerEnvironment, promotion.TrailerApplication, promotion.TrailerSnapshot, promotion.TrailerImage,
		promotion.TrailerRequestedBy, promotion.TrailerReason, promotion.TrailerBypassed, promotion.TrailerApprovedBy,
		promotion.StatusContext, state.All, pullrequest.StatusOfOthers(nil).Description,
	} {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not name %s", word)
		}
	}
}

func TestFormats_commit(t *testing.T) {
	t.Parallel()
	block := formatBlocks(t, "text", 4)[1]
	message := strings.Split(strings.TrimSpace(block), "\n\n")
	var trailers []promotion.Trailer
	for line := range strings.Lines(message[len(message)-1]) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		trailers = append(trailers, promotion.Trailer{Key: key, Value: value})
	}
	snapshots := map[string]promotion.Snapshot{}
	page := pullrequest.Page{}
	page.Environment.Name = "staging"
	for _, landed := range promotion.ReadTrailers(trailers) {
		snapshots[landed.Application] = landed.Snapshot
		d := promotion.Decision{Target: landed.Target}
		for component, from := range map[string]string{"web": "1.4.1", "worker": "1.9.0"} {
			if to, found := landed.Snapshot[component]; found {
				d.Moves = append(d.Moves, promotion.Move{Component: component, From: promotiontest.Version(from), To: to.Version})
			}
		}
		slices.SortFunc(d.Moves, func(a, b promotion.Move) int { return strings.Compare(a.Component, b.Component) })
		page.Decisions = append(page.Decisions, d)
	}
	if diff := cmp.Diff(promotion.Trailers("staging", snapshots, nil), trailers); diff != "" {
		t.Errorf("trailers (-code +page):\n%s", diff)
	}
	subject, body := pullrequest.CommitMessage(page)
	if diff := cmp.Diff(subject+"\n\n"+body, strings.Join(message[:len(message)-1], "\n\n")); diff != "" {
		t.Errorf("message (-code +page):\n%s", diff)
	}
}

// TestFormats_state reads the files of the page and writes them again, and
// looks for every key of a record in them and in the table.
func TestFormats_state(t *testing.T) {
	t.Parallel()
	blocks := formatBlocks(t, "json", 3)
	files := map[string][]byte{"prod/shop.json": []byte(blocks[0]), "prod/_all.json": []byte(blocks[1]), "_all/_all.json": []byte(blocks[2])}
	read, err := state.Read(maps.All(files))
	if err != nil || len(read.Problems()) > 0 {
		t.Fatal(err, read.Problems())
	}
	// Written from nothing but what was understood of them.
	var written state.State
	for _, target := range read.Targets() {
		written = written.With(target, func(r *state.Record) { *r = knownOnly(read.At(target)) })
	}
	for path, content := range written.Diff(state.State{}) {
		if diff := cmp.Diff(string(content), string(files[path])); diff != "" {
			t.Errorf("%s (-code +page):\n%s", path, diff)
		}
	}
	for _, kind := range []reflect.Type{
		reflect.TypeFor[state.Record](), reflect.TypeFor[state.Act](), reflect.TypeFor[state.Request](), reflect.TypeFor[state.RolledBack](),
		reflect.TypeFor[state.Rejection](), reflect.TypeFor[state.Failure](), reflect.TypeFor[state.Closing](), reflect.TypeFor[state.Settled](), reflect.TypeFor[state.Reopened](), reflect.TypeFor[state.Seen](),
		reflect.TypeFor[state.Version](), reflect.TypeFor[state.ProcessedComment](), reflect.TypeFor[state.Reply](), reflect.TypeFor[identity.User](),
	} {
		for _, field := range reflect.VisibleFields(kind) {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key == "" {
				continue
			}
			if !strings.Contains(strings.Join(blocks, ""), `"`+key+`":`) && key != "bot" {
				t.Errorf("no example has the key %s of %s", key, kind)
			}
			if !strings.Contains(formats(t), "`"+key+"`") {
				t.Errorf("the page does not explain the key %s of %s", key, kind)
			}
		}
	}
}

// knownOnly is a record without the file that it was read from.
func knownOnly(r state.Record) state.Record {
	known := state.Record{}
	to, from := reflect.ValueOf(&known).Elem(), reflect.ValueOf(r)
	for i := range to.NumField() {
		if to.Type().Field(i).IsExported() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return known
}

func TestFormats_pullRequest(t *testing.T) {
	t.Parallel()
	markers := strings.TrimSpace(formatBlocks(t, "text", 4)[3])
	ours := pullrequest.Body(full())
	if got := pullrequest.MergeBody("mine\n"+markers, ours); got != "mine\n"+ours {
		t.Errorf("the markers of the page are not those of the code: %s", got)
	}
	if first, last, _ := strings.Cut(markers, "\n"); !strings.HasPrefix(ours, first+"\n") || !strings.HasSuffix(ours, "\n"+last) {
		t.Error("our part does not stand between the markers of the page")
	}
	if got := pullrequest.StatusOfOthers(os.ErrInvalid); got.State != scm.CheckFailed {
		t.Errorf("got %v", got)
	}
}
