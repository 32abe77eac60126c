package database

import (
	"strconv"
	"strings"
	"sync"
)

// dialect is how the text of a query differs between the databases. Everybody
// writes queries alike:
//
//   - ? stands for an argument, in the order of the arguments,
//   - @now for the present time in microseconds,
//   - @least and @greatest for the functions of two or more values,
//   - @elements(?) for the rows of an argument that is a JSON array, with the column
//     value, whose fields are value->>'name',
//   - @skip_locked after a select whose rows are to be changed: rows that another
//     transaction holds are left out. SQLite has one writer and needs no such word.
type dialect struct {
	name       string
	mark       string            // before the number of an argument
	serverTime string            // an expression; empty: the injected clock is an argument
	others     *strings.Replacer // the other words

	known *sync.Map // text as written -> query
}

// query is a text in the words of one database.
type query struct {
	text string
	now  bool // the present time is one more argument
}

func sqliteDialect() dialect {
	return dialect{
		name: sqliteName, mark: "?", known: &sync.Map{},
		others: strings.NewReplacer("@least", "min", "@greatest", "max", "@skip_locked", "", "@elements(?)", "json_each(?)"),
	}
}

func postgresDialect(serverClock bool) dialect {
	d := dialect{
		name: "PostgreSQL", mark: "$", known: &sync.Map{},
		others: strings.NewReplacer("@least", "least", "@greatest", "greatest", "@skip_locked", "for update skip locked",
			"@elements(?)", "jsonb_array_elements(cast(? as jsonb)) as element(value)"),
	}
	if serverClock {
		// One statement sees one time.
		d.serverTime = "(extract(epoch from statement_timestamp()) * 1000000)::bigint"
	}
	return d
}

// translate puts a query into the words of the database. Queries are constants of
// the program, so all of them are remembered.
func (d dialect) translate(written string) query {
	if found, ok := d.known.Load(written); ok {
		if q, ok := found.(query); ok {
			return q
		}
	}
	q := d.rewrite(written)
	d.known.Store(written, q)
	return q
}

// rewrite leaves texts in quotes as they are.
func (d dialect) rewrite(written string) query {
	parts := strings.Split(d.others.Replace(written), "'")
	count := 0
	for i := 0; i < len(parts); i += 2 {
		parts[i], count = d.number(parts[i], count)
	}
	text := strings.Join(parts, "'")
	if !strings.Contains(text, "@now") {
		return query{text: text}
	}
	return query{text: strings.ReplaceAll(text, "@now", d.now(count+1)), now: d.serverTime == ""}
}

// number gives the arguments of a part their numbers, after the count so far.
func (d dialect) number(part string, count int) (string, int) {
	pieces := strings.Split(part, "?")
	var text strings.Builder
	for i, piece := range pieces {
		if i > 0 {
			count++
			text.WriteString(d.mark + strconv.Itoa(count))
		}
		text.WriteString(piece)
	}
	return text.String(), count
}

// now is the present time in a query that has so many arguments before it.
func (d dialect) now(number int) string {
	switch {
	case d.serverTime != "":
		return d.serverTime
	case d.mark == "$":
		return "$" + strconv.Itoa(number) + "::bigint"
	default:
		return "?" + strconv.Itoa(number)
	}
}
