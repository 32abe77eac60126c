package command_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/command"
)

const hold = "/promoter hold"

// Every comment contains a line that begins with the prefix. Readers see it as a command in some.
func TestRead_asReadersSeeIt(t *testing.T) {
	t.Parallel()
	for _, group := range []struct {
		where    string
		seen     bool
		comments []string
	}{
		{"a paragraph", true, []string{
			hold, "Sorry.\n" + hold, "Sorry.\n\n" + hold + "\nIt is empty.", hold + "  \nhard break", "# Why\n" + hold, "a\r" + hold, "/promoter\u00a0hold", "***\n" + hold,
			"**Why:** it *is* `empty`, ~~full~~, [here](https://a.b \"c\"), ![d](e).\n" + hold, "2 * 3 * 4\n" + hold, "a_b\n" + hold + "\nc_d",
			"It costs $5\n" + hold + "\nand saves $6.", "the ` key\n" + hold, "see [a]\n" + hold, "[a]: /b\n" + hold, "a <b\n" + hold, "1 < 2\n" + hold,
		}},
		{"a heading of a signature", true, []string{hold + "\n-- \nJane", hold + "\n---\nsent by a phone"}},
		{"the last line of a list", true, []string{"- a\n- b\n" + hold, "1. a\n" + hold, "- a\n  - b\n" + hold, "- [x] done\n" + hold}},
		{"after a list", true, []string{"- a\n\n" + hold, "1. a\n\n\n" + hold}},
		{"after a quote", true, []string{"> a\n\n" + hold, "> a\n>\n" + hold, ">>>\na\n>>>\n" + hold, ">>> [!note] a\nb\n>>>\n" + hold}},
		{"after code", true, []string{"```\na\n```\n" + hold, "~~~\na\n~~~~\n" + hold, "    a\n" + hold, "`a\nb`\n" + hold}},
		{"after HTML", true, []string{
			"<details>\n<summary>a</summary>\n\nb\n\n</details>\n\n" + hold, "<!-- a -->\n" + hold, "<!-- a\n\nb -->\n" + hold, "<p>a</p>\n\n" + hold,
			"<br>\n\n" + hold, "a <b>b</b><br>\n" + hold, "Map<String>\n" + hold, "<details>\n\n<details>\n\n</details>\n\n</details>\n\n" + hold,
			"<img src=a>\n\n" + hold, "<pre>\na\n</pre>\n" + hold, "<div align=center>\n\na\n\n</div>\n\n" + hold, "a <!-- b\n" + hold,
		}},
		{"after a table", true, []string{"|a|\n|-|\n|b|\n\n" + hold}},
		{"after a footnote", true, []string{"a[^1]\n\n[^1]: b\n\n" + hold}},
		{"after a formula", true, []string{"$$\na\n$$\n\n" + hold, "$a$\n" + hold, "\\[\na\n\\]\n\n" + hold}},

		{"indented", false, []string{" " + hold, "\t" + hold, "    " + hold, "a\n  " + hold, "- a\n  " + hold, "- " + hold}},
		{"other text", false, []string{"\\" + hold, "&#47;promoter hold", "\ufeff" + hold, hold[1:], "/PROMOTER hold", hold[:9] + "-hold"}},
		{"a quote", false, []string{
			"> " + hold, "> a\n" + hold, "> a\n> b\n" + hold, ">> a\n> b\n" + hold, "> - a\n" + hold, "- > a\n" + hold, "> [!NOTE]\n> a\n" + hold,
			"> </blockquote>\n>\n> a\n" + hold, "1. > a\n" + hold, "> # a\n> b\n" + hold, ">a\n" + hold, "   > a\n" + hold, "> a\\\n" + hold,
		}},
		{"a quote of GitLab", false, []string{
			">>>\n" + hold + "\n>>>", ">>>\na\n\n" + hold, ">>>>\n" + hold + "\n>>>\n" + hold, "a\n>>>\n" + hold + "\n>>>", "- >>>\n  a\n" + hold,
			">>>\n```\n>>>\n```\n" + hold + "\n```\n", ">>>\n\n- a\n\n" + hold + "\n\n>>>", "   >>>  \n" + hold + "\n>>>",
			">>> [!note]\n\n" + hold + "\n\n>>>", "a\n\n>>>> [!WARNING] b\n\n" + hold + "\n\n>>>\n\n>>>>", ">>>\t[!tip]\na\n\n" + hold,
		}},
		{"fenced code", false, []string{
			"```\n" + hold + "\n```", "```sh\n" + hold, "~~~\n" + hold + "\n~~", "````\n```\n" + hold + "\n````", "   ~~~\n" + hold, "a\n```\n" + hold + "\n```",
			"```\n" + hold + "\n``` a", "~~~ `\n" + hold, "```\r" + hold + "\r```",
		}},
		{"inline code", false, []string{"`a\n" + hold + "\nb`", "a ``\n" + hold + " ` b\n``", "- `a\n" + hold + "`"}},
		{"an HTML comment", false, []string{
			"<!--\n" + hold + "\n-->", "<!--\n\n" + hold + "\n\n-->", "a <!--\n" + hold + "\n-->", "<!-- a --> <!--\n" + hold + "\n--> <!-- b",
			"<div><!--\n\n" + hold + "\n\n--></div>", "<!-- a\n-->\r<!--\n" + hold + "\n-->", "<!--\n" + hold, "<!-- a --!>\n" + hold,
		}},
		{"an HTML block", false, []string{
			"<div>\n" + hold + "\n</div>", "<pre>\n" + hold + "\n</pre>", "<p>\n" + hold, "<script>\n" + hold + "\n</script>", "<x-a>\n" + hold, "</div>\n" + hold,
			"<table><tr><td>\n" + hold + "\n</td></tr></table>", "<textarea>\n\n" + hold, "<hr>\n" + hold,
		}},
		{"a folded block", false, []string{
			"<details>\n\n" + hold + "\n\n</details>", "<details open>\n<summary>a</summary>\n\n" + hold + "\n\n</details>", "<DETAILS\n>\n\n" + hold,
			"a <details>\n" + hold + "\n</details>", "<details>\n\n<details>\n\n</details>\n\n" + hold, "- <details>\n\n" + hold, "<details/>\n\n" + hold,
			"<details>\n\n```\n</details>\n```\n\n" + hold, "<details>\n\n`</details>`\n\n" + hold, "<details>\n\n<!-- </details> -->\n\n" + hold,
			"<details>\n\n<textarea></details></textarea>\n\n" + hold, "<details><a title=\"</details>\">\n\n" + hold, "<summary>\n\n" + hold,
		}},
		{"other elements", false, []string{
			"<blockquote>\n\n" + hold + "\n\n</blockquote>", "<pre>\n\n<details></pre>\n\n" + hold, "<del>\n\n" + hold + "\n\n</del>", "a <s>\n" + hold + "\n</s>",
			"<code>\n\n" + hold + "\n\n</code>", "<table><tr><td>\n\n" + hold + "\n\n</td></tr></table>", "<svg>\n\n</svg>\n\n" + hold, "a <kbd>b\n" + hold + "</kbd>",
		}},
		{"a tag", false, []string{
			"a <b title=\"\n" + hold + "\n\">", "a <b\ntitle='\n" + hold + "'>", "<div title=\"\n\n" + hold + "\n\n\">", "<div title='\n" + hold + "\n'>",
		}},
		{"CDATA, declarations, and instructions", false, []string{
			"<![CDATA[\n" + hold + "\n]]>", "<![CDATA[\n\n" + hold + "\n\n]]>", "a <![CDATA[\n" + hold + "\n]]>", "<div><![CDATA[\n\n" + hold + "\n\n]]>",
			"<?a\n" + hold + "\n?>", "a <?a\n" + hold + "\n?>", "<!A\n" + hold + "\n>", "a <!A\n" + hold + "\nb>", "a <!a\n" + hold + "\nb>",
		}},
		{"a link reference definition", false, []string{
			"[a]: /b '\n" + hold + "\n'", "[a]: /b \"c\n" + hold + "\"\n\n[a]", "[a]: </b> (\n" + hold + "\n)\n", "[a\n" + hold + "\n]: /b",
		}},
		{"a link or an image", false, []string{
			"[a](/b '\n" + hold + "\n')", "[a\n" + hold + "\nb](/c)", "![a\n" + hold + "\nb](/c)", "![a](/b \"\n" + hold + "\n\")",
			"[a\n" + hold + "\nb][c]\n\n[c]: /d",
		}},
		{"a table", false, []string{
			"|a|\n|-|\n" + hold, "a | b\n--- | ---\n" + hold + " | c", hold + " | a\n--- | ---", "a|\n-|\n" + hold + "\nb", "- a | b\n  - | -\n  c\n  " + hold,
		}},
		{"a footnote", false, []string{"a[^1]\n\n[^1]: b\n" + hold, "[^1]: b\n" + hold}},
		{"struck out or emphasized", false, []string{"~~a\n" + hold + "\nb~~", "~a\n" + hold + "\nb~", "**a\n" + hold + "\nb**", "_a\n" + hold + "\nb_"}},
		{"a formula", false, []string{
			"$$\n" + hold + "\n$$", "$$\n\n" + hold + "\n\n$$", "a $$b\n" + hold + "\nc$$", "$a\n" + hold + "\nb$", "\\[\n" + hold + "\n\\]", "a \\(\n" + hold + "\n\\)",
			"$$\n```\n$$\n```\n" + hold + "\n```", "\\[\n\n" + hold,
		}},
		{"a description", false, []string{"a\n: b\n" + hold, "a\n\n: b\n" + hold}},
		{"front matter", false, []string{
			"---\n" + hold + "\n---", "---\na: b\n\n" + hold + "\n\n---\n", "\n+++\n\n" + hold + "\n\n+++", ";;;\n\n" + hold + "\n\n;;;", "# coding: utf-8\n---\n\n" + hold + "\n\n---",
		}},
	} {
		for i, comment := range group.comments {
			for ends, text := range map[string]string{"": comment, " of Windows": strings.ReplaceAll(comment, "\n", "\r\n")} {
				t.Run(fmt.Sprintf("%s %d%s", group.where, i, ends), func(t *testing.T) {
					t.Parallel()
					if got, found := command.Read(text); found != group.seen {
						t.Errorf("%q has the command %+v: %t", text, got, found)
					}
				})
			}
		}
	}
}

func TestRead_limits(t *testing.T) {
	t.Parallel()
	log := "<details>\n\n```\n" + strings.Repeat("level=info msg=reconciled | [a] (b) > c\n", 300) + "```\n\n</details>\n\n"
	if _, found := command.Read(log + hold); !found {
		t.Error("a command after a long log is none")
	}
	for name, before := range map[string]string{
		"length":   strings.Repeat("a", 16<<10) + "\n\n",
		"lines":    strings.Repeat("a\n", 1000) + "\n",
		"quotes":   strings.Repeat("> ", 21) + "a\n\n",
		"lists":    strings.Repeat("- ", 21) + "a\n\n",
		"numbers":  strings.Repeat("1. > ", 11) + "a\n\n",
		"tags":     strings.Repeat("<a>", 1001) + "\n\n",
		"brackets": strings.Repeat("[](", 501) + "\n\n",
		"cells":    "a" + strings.Repeat("|a", 1000) + strings.Repeat("\n", 30),
	} {
		if _, found := command.Read(before + hold); found {
			t.Errorf("a command after too many %s is one", name)
		}
	}
}

// hostile are comments in which parsers of Markdown are known to need time that grows with the
// square of the length, or faster, each repeated to the length.
func hostile(length int) map[string]string {
	fill := func(text string) string { return strings.Repeat(text, length/len(text)) }
	half := func(text string) string { return strings.Repeat(text, length/len(text)/2) }
	lines := func(text, line string) string { return text + strings.Repeat(line, (length-len(text))/len(line)) }
	all := map[string]string{
		"quotes and lines":        lines(strings.Repeat(">", 20)+"a\n", strings.Repeat(">", 20)+"\n"),
		"lists and empty lines":   lines(strings.Repeat("* ", 20)+"a\n", "\n"),
		"lists and lazy lines":    lines(strings.Repeat("* ", 20)+"a\n", "b\n"),
		"deep lists, empty lines": half("* ") + "a\n" + half("\n"),
		"many cells, short rows":  strings.Repeat("|a", 1000) + "\n" + strings.Repeat("|-", 1000) + "\n" + half("a\n"),
		"cells of short rows":     lines(strings.Repeat("|a", 60)+"\n"+strings.Repeat("|-", 60)+"\n", strings.Repeat("a", 40)+"\n"),
		"nested brackets":         half("[") + half("]"),
		"nested images":           half("![") + half("](a)"),
		"indented list":           "",
		"references":              lines("[a]: b\n", "[a]: b\n"),
		"footnotes":               lines("[^a]: b\n\n", "[^a]"),
	}
	for _, text := range []string{
		"> ", ">", ">\t", "- ", "1. ", "> - ", "- a\n", "- a\n\n", "* a\n  \n", "*a ", "a* ", "*_", "*a _b ", "a**b", "**x* ", "_a", "~~a ", "~a ",
		"[", "]", "[a](", "[](", "[a](<b", "![[](", "[a][b]", "[a]", "[a ", "[a]: b\n", "[^a]: b\n", "[^", "\\", "`a``b", "` ` `` ",
		"<a ", "a <!--", "a <![CDATA[", "a <?", "a <!A", "<a b=\"", "<", "<a>", "</a>", "<details>\n\n", "<div>\n", "<a b='\n", "x <a \n", "<u@a.", "<!--\n\n",
		"a|b\n-|-\n", "a | b\n", "a\n: b\n", "a\n\n: b\n\n", ": ", "www.a", "http://a.b ", "http:", "a@", "a@b.c_", "&amp", "$a ", "$$ ", "\\[ ", "$$\n",
		"a\n=\n", "a\n", "```\n", "\n", " ", "-\n>", "# {a=", ">>>\n", ">>>\na\n", "/promoter hold\n", "/promoter hold\n\n", "~\n/promoter\n",
	} {
		all[text] = fill(text)
	}
	var indented, backticks strings.Builder
	for depth := 0; indented.Len() < length; depth++ {
		indented.WriteString(strings.Repeat("  ", depth) + "- a\n")
		if depth > 0 && depth%60 == 0 {
			indented.WriteString(strings.Repeat("\n", 900))
		}
	}
	for n := 1; backticks.Len() < length; n++ {
		backticks.WriteString(strings.Repeat("`", n) + " ")
	}
	all["indented list"], all["backticks of any length"] = indented.String(), backticks.String()
	return all
}

// Without the limits, this takes minutes.
func TestRead_ofHostileCommentsIsFast(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, length := range []int{16<<10 - 60, 64 << 10} {
		for _, comment := range hostile(length) {
			command.Read(comment + "\n\n" + hold)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func BenchmarkRead_hostile(b *testing.B) {
	for _, length := range []int{16<<10 - 60, 64 << 10} {
		for name, comment := range hostile(length) {
			comment = comment[:min(len(comment), length)] + "\n\n/promoter hold\n"
			b.Run(fmt.Sprintf("%d/%q", length, name), func(b *testing.B) {
				for b.Loop() {
					command.Read(comment)
				}
			})
		}
	}
}
