package database

import (
	"strconv"
	"strings"
	"sync"
)

// dialect translates queries for one database. All packages write queries as follows:
//
//   - ? stands for an argument, in the order of the arguments,
//   - @now for the current time in microseconds,
//   - @least and @greatest for the functions of two or more values,
//   - @elements(?) for the rows of an argument that is a JSON array, with the column
//     value, whose fields are value->>'name',
//   - @skip_locked after a select whose rows are to be changed: rows that another
//     transaction has locked are skipped. SQLite has one writer and needs no such
//     clause.
type dialect struct {
	name       string
	mark       string            // before the number of an argument
	serverTime string            // an expression; empty: the injected clock is an argument
	words      *strings.Replacer // the other words

	known *sync.Map // written text -> query
}

// query is a text for one database.
type query struct {
	text string
	now  bool // the current time is one more argument
}

func sqliteDialect() dialect {
	return dialect{
		name: sqliteName, mark: "?", known: &sync.Map{},
		words: strings.NewReplacer("@least", "min", "@greatest", "max", "@skip_locked", "", "@elements(?)", "json_each(?)"),
	}
}

func postgresDialect(serverClock bool) dialect {
	d := dialect{
		name: "PostgreSQL", mark: "$", known: &sync.Map{},
		words: strings.NewReplacer("@least", "least", "@greatest", "greatest", "@skip_locked", "for update skip locked",
			"@elements(?)", "jsonb_array_elements(cast(? as jsonb)) as element(value)"),
	}
	if serverClock {
		// One statement sees one time.
		d.serverTime = "(extract(epoch from statement_timestamp()) * 1000000)::bigint"
	}
	return d
}

// translate returns a query for the database. Queries are constants of the program, so
// all translations are cached.
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

// rewrite numbers the arguments and inserts the current time. Quoted texts stay as
// they are.
func (d dialect) rewrite(written string) query {
	parts := strings.Split(d.words.Replace(written), "'")
	count := 0
	for i := 0; i < len(parts); i += 2 {
		pieces := strings.Split(parts[i], "?")
		var text strings.Builder
		for j, piece := range pieces {
			if j > 0 {
				count++
				text.WriteString(d.mark + strconv.Itoa(count))
			}
			text.WriteString(piece)
		}
		parts[i] = text.String()
	}
	text := strings.Join(parts, "'")
	if !strings.Contains(text, "@now") {
		return query{text: text}
	}
	now := d.serverTime
	if now == "" {
		if now = d.mark + strconv.Itoa(count+1); d.mark == "$" {
			now += "::bigint"
		}
	}
	return query{text: strings.ReplaceAll(text, "@now", now), now: d.serverTime == ""}
}
