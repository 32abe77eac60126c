package api

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/delivery"
	"promoter/internal/fault"
)

func (a *API) metrics(c echo.Context) error {
	query, asCSV, err := a.metricsQuery(c)
	if err != nil {
		return err
	}
	if principal := principalOf(c); principal.Restricted() {
		query.May = func(repository, environment, application string) bool {
			return principal.May(access.Read, access.Target{Repository: repository, Environment: environment, Application: application})
		}
	}
	report, err := a.Metrics(c.Request().Context(), query)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderVary, "Accept")
	if !asCSV {
		return c.JSON(http.StatusOK, report)
	}
	c.Response().Header().Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="metrics.csv"`)
	return report.WriteCSV(c.Response())
}

// metricsQuery parses the parameters, and whether CSV is wanted. Unknown or invalid ones are
// errors: without them, the response would be about more than was requested.
func (a *API) metricsQuery(c echo.Context) (q delivery.Query, asCSV bool, err error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return q, false, fault.New(fault.Invalid, "the parameters cannot be read: %w", err)
	}
	format, by := "", ""
	into := map[string]*string{
		"repository": &q.Repository, "environment": &q.Environment, "application": &q.Application, "label": &q.Label,
		"by": &by, "group": &q.Group, "timeZone": &q.TimeZone, "format": &format,
	}
	times := map[string]*time.Time{"since": &q.Since, "until": &q.Until}
	for name, given := range values {
		if len(given) != 1 || len(given[0]) > maxParameter {
			return q, false, fault.New(fault.Invalid, "the parameter %.50q is given %d times, or is too long", name, len(given))
		}
		if text, known := into[name]; known {
			*text = given[0]
		} else if at, known := times[name]; known {
			if *at, err = timeOrAge(name, given[0], a.Now()); err != nil {
				return q, false, err
			}
		} else {
			return q, false, fault.New(fault.Invalid,
				"%.50q is not a parameter: use repository, environment, application, label, since, until, by, group, timeZone, or format", name)
		}
	}
	q.By = delivery.Period(by)
	switch format {
	case "":
		format, _, _ = mime.ParseMediaType(c.Request().Header.Get(echo.HeaderAccept))
		return q, strings.EqualFold(format, "text/csv"), nil
	case "json", "csv":
		return q, format == "csv", nil
	}
	return q, false, fault.New(fault.Invalid, "format must be json or csv")
}
