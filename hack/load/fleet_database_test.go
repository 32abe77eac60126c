package load

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"promoter/internal/database"
)

// statements reads what PostgreSQL counts.
type statements struct {
	tb     testing.TB
	conn   *pgx.Conn
	server int // its process
	cpu    time.Duration
}

// byLoad is in the statements of the load itself, which do not count.
const byLoad = "/* by the load */"

// statement is one text of a query, whatever its arguments.
type statement struct {
	text  string
	calls int
	took  time.Duration // of all calls
}

func openStatements(tb testing.TB, o database.Options) *statements {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), o.URL.Reveal())
	if err != nil {
		tb.Fatal(err)
	}
	s := &statements{tb: tb, conn: conn}
	tb.Cleanup(func() { _ = conn.Close(tb.Context()) })
	backend := 0
	s.one(&backend, "select pg_backend_pid()")
	s.server = parentOf(tb, backend)
	s.execute("create extension if not exists pg_stat_statements schema public")
	s.reset()
	return s
}

func (s *statements) one(into any, query string) {
	s.tb.Helper()
	if err := s.conn.QueryRow(s.tb.Context(), query).Scan(into); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *statements) execute(statement string) {
	s.tb.Helper()
	if _, err := s.conn.Exec(s.tb.Context(), statement); err != nil {
		s.tb.Fatal(err)
	}
}

// reset begins to count again.
func (s *statements) reset() {
	s.tb.Helper()
	s.execute("select public.pg_stat_statements_reset()")
	s.cpu = s.processorTime()
}

// read returns all statements since the reset but those that begin and end transactions, most
// frequent first, how many transactions there were, and the processor time of the server.
func (s *statements) read() (all []statement, transactions int, cpu time.Duration) {
	s.tb.Helper()
	rows, err := s.conn.Query(s.tb.Context(), `select s.query, s.calls, s.total_exec_time from public.pg_stat_statements s
join pg_database d on d.oid = s.dbid where d.datname = current_database() and s.query not like '%pg_stat_statements%' and s.query not like '%'||$1||'%'`, byLoad)
	if err != nil {
		s.tb.Fatal(err)
	}
	for rows.Next() {
		one, milliseconds := statement{}, 0.0
		if err := rows.Scan(&one.text, &one.calls, &milliseconds); err != nil {
			s.tb.Fatal(err)
		}
		one.took = time.Duration(milliseconds * float64(time.Millisecond))
		switch word, _, _ := strings.Cut(strings.ToLower(one.text), " "); word {
		case "begin", "rollback":
		case "commit":
			transactions += one.calls
		default:
			all = append(all, one)
		}
	}
	if rows.Err() != nil {
		s.tb.Fatal(rows.Err())
	}
	slices.SortFunc(all, func(a, b statement) int { return cmp.Compare(b.calls, a.calls) })
	return all, transactions, s.processorTime() - s.cpu
}

// frequent returns how many queries there were for each of the images, at least.
func frequent(all []statement, images int) (sum int) {
	for _, one := range all {
		sum += one.calls / images
	}
	return sum
}

func calls(all []statement) (sum int) {
	for _, one := range all {
		sum += one.calls
	}
	return sum
}

// describe lists the statements that took the longest.
func describe(all []statement) string {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b statement) int { return cmp.Compare(b.took, a.took) })
	var text strings.Builder
	for _, one := range sorted[:min(len(sorted), 12)] {
		fmt.Fprintf(&text, "%8d calls %8.1f s  %.100s\n", one.calls, one.took.Seconds(), strings.Join(strings.Fields(one.text), " "))
	}
	return text.String()
}

// processorTime returns that of the server, with its processes, now and before.
func (s *statements) processorTime() (sum time.Duration) {
	s.tb.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, file := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields, ok := processFields(pid)
		switch {
		case !ok: // it has ended
		case pid == s.server:
			sum += ticks(fields[11:15]) // with those that have ended
		case fields[1] == strconv.Itoa(s.server):
			sum += ticks(fields[11:13])
		}
	}
	return sum
}

// processorTime returns that of a process.
func processorTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	fields, ok := processFields(pid)
	if !ok {
		tb.Fatalf("process %d has ended", pid)
	}
	return ticks(fields[11:13])
}

func parentOf(tb testing.TB, pid int) int {
	tb.Helper()
	fields, ok := processFields(pid)
	if !ok {
		tb.Fatalf("process %d has ended", pid)
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// processFields returns the fields of a process from its state on, as in proc(5).
func processFields(pid int) ([]string, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, false
	}
	_, rest, _ := strings.Cut(string(text), ") ") // after its name
	fields := strings.Fields(rest)
	return fields, len(fields) > 15
}

// ticks adds up times that Linux counts in hundredths of a second.
func ticks(fields []string) (sum time.Duration) {
	for _, field := range fields {
		n, _ := strconv.Atoi(field)
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}
