package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const top = "../../.."

// The page of attacks has a row for each kind that runs, with its number of cases, and no other.
func TestKinds_areTheRowsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(top, "docs/operate/attacks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## By kind\n")
	section, _, ends := strings.Cut(section, "\n## ")
	if !found || !ends {
		t.Fatal("the page has no such section")
	}
	rows, run := map[string]string{}, map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) == 4 && cells[0] != "kind" {
			rows[cells[0]] = cells[2]
		}
	}
	for _, one := range kinds() {
		run[one.name] = fmt.Sprint(one.least)
	}
	if diff := cmp.Diff(rows, run); diff != "" {
		t.Errorf("(-rows of the page +kinds that run):\n%s", diff)
	}
}

// Each kind has tests, and each of them is in its folder.
func TestKinds_haveTests(t *testing.T) {
	t.Parallel()
	for _, one := range kinds() {
		if len(one.tests) == 0 || one.least == 0 {
			t.Errorf("%s has no test", one.name)
		}
		for _, tests := range one.tests {
			files, err := filepath.Glob(filepath.Join(top, tests.folder, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				text.Write(content)
			}
			for _, name := range tests.names {
				if !strings.Contains(text.String(), "\nfunc "+name+"(t *testing.T)") {
					t.Errorf("%s: %s has no test %s", one.name, tests.folder, name)
				}
			}
		}
	}
}

func TestPrintTable_noticesWhatWasNotRepelled(t *testing.T) {
	t.Parallel()
	one := []kind{{"links", 3, []tests{{"cmd/promoter", []string{"TestLinks", "TestFolders"}}}}}
	line := func(action, test string) string {
		return fmt.Sprintf(`{"Action":%q,"Package":"promoter/cmd/promoter","Test":%q}`+"\n", action, test)
	}
	whole := line("pass", "TestLinks/a") + line("pass", "TestLinks/b") + line("pass", "TestLinks") + line("pass", "TestFolders")
	for name, test := range map[string]struct {
		output, want string
		held         bool
	}{
		"all repelled":       {whole, "links 3 repelled", true},
		"one fell":           {whole + line("fail", "TestLinks/c") + line("fail", "TestLinks"), "links 3 1 FELL", false},
		"a test is missing":  {strings.ReplaceAll(whole, "TestFolders", "TestOther"), "links 2 cmd/promoter TestFolders did NOT RUN", false},
		"in another package": {strings.ReplaceAll(whole, "promoter/cmd", "promoter/other"), "did NOT RUN", false},
		"a case is missing":  {strings.Replace(whole, line("pass", "TestLinks/b"), "", 1), "links 2 FEWER than 3 cases", false},
		"a case did not end": {whole + line("run", "TestLinks/c"), "links 3 1 FELL", false},
		"a test is skipped":  {strings.Replace(whole, line("pass", "TestFolders"), line("skip", "TestFolders"), 1), "repelled, 1 skipped", true},
		"skipped and missing": {
			strings.NewReplacer(line("pass", "TestFolders"), line("skip", "TestFolders"), line("pass", "TestLinks/b"), "").Replace(whole), "FEWER than 3 cases", false,
		},
		"a longer name is none": {whole + line("fail", "TestLinksOfOthers"), "links 3 repelled", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := readResults([]byte(test.output))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			held := printTable(&out, one, found)
			if got := strings.Join(strings.Fields(out.String()), " "); held != test.held || !strings.Contains(got, test.want) {
				t.Errorf("%t: %s", held, got)
			}
		})
	}
	if _, err := readResults([]byte("FAIL promoter/x [build failed]")); err == nil {
		t.Error("output without JSON is read")
	}
}

func TestArguments_runEachTestOnce(t *testing.T) {
	t.Parallel()
	got := arguments([]kind{
		{"a", 1, []tests{{"internal/y", []string{"TestB", "TestA"}}}},
		{"b", 1, []tests{{"internal/x", []string{"TestA"}}, {"internal/y", []string{"TestC"}}}},
	})
	want := "test -json -count=1 -timeout 20m -run ^(TestA|TestB|TestC)$ ./internal/x ./internal/y"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
}
