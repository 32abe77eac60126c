package database

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"promoter/internal/fault"
)

// explainPostgres returns what makes faults of a server's errors. They name host,
// database and user. Errors of the driver hold its whole configuration with the
// password, so only their text goes on.
func explainPostgres(config *pgx.ConnConfig) func(context.Context, error) error {
	where := fmt.Sprintf("the database %s on %s:%d, as user %s", config.Database, config.Host, config.Port, config.User)
	return func(ctx context.Context, err error) error {
		refused, ok := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil:
			return nil
		case ok && isMeetingCode(refused.Code):
			return fault.New(fault.Conflict, "%s: %s: %w", where, refused.Message, errMeeting)
		case ok && refused.Code == "23505":
			return fault.New(fault.Conflict, "the database has it already: %s", refused.Message)
		case ok:
			kind, what := postgresWords(refused.Code)
			return fault.New(kind, "%s: %s: %s (SQLSTATE %s)", where, what, refused.Message, refused.Code)
		case ctx.Err() != nil:
			return fault.New(fault.Temporary, "%s, gave no answer in time: %w", where, context.Cause(ctx))
		default:
			return fault.New(fault.Temporary, "%s, can not be reached: %s; a running promoter tries again by itself, one that starts now ends", where, lastLine(err))
		}
	}
}

// isMeetingCode: two transactions that can not both be, and a circle of locks
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func isMeetingCode(code string) bool { return code == "40001" || code == "40P01" }

// postgresWords says what a code means and what to do. Two letters are the class of
// many codes.
func postgresWords(code string) (kind fault.Kind, what string) {
	switch code {
	case "28P01", "28000":
		return fault.Unauthorized, "the server does not accept the user or the password; correct the URL"
	case "3D000":
		return fault.Invalid, "there is no such database; create it"
	case "3F000", "42501":
		return fault.Unauthorized, "the user has no right to that; let it own the database or its schema"
	case "25006":
		return fault.Temporary, "the server is read only, a standby perhaps; name the primary, or add target_session_attrs=read-write"
	case "53100":
		return fault.Temporary, "the server's disk is full; make room, nothing is accepted until then"
	case "55P03":
		return fault.Temporary, "another session holds a lock and does not let go"
	}
	switch code[:min(2, len(code))] {
	case "08", "53", "57", "58":
		return fault.Temporary, "the server can not answer now; a running promoter tries again by itself, one that starts now ends"
	default:
		return fault.Internal, "the server refused a statement"
	}
}

// lastLine is what the driver says of the last address that it tried.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
