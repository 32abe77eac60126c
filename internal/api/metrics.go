package api

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/store"
)

func (a *API) metrics(c echo.Context) error {
	given, err := Parameters(c, append(MetricsParameters(), "format")...)
	if err != nil {
		return err
	}
	query, err := MetricsQuery(given, principalOf(c), a.Now())
	if err != nil {
		return err
	}
	asCSV, err := wantsCSV(given["format"], c.Request().Header.Get(echo.HeaderAccept))
	if err != nil {
		return err
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

// MetricsParameters returns the names of the parameters that select delivery metrics.
func MetricsParameters() []string {
	return []string{"repository", "environment", "application", "label", "since", "until", "by", "group", "timeZone"}
}

// MetricsQuery returns what parameters select, of what a principal may read.
func MetricsQuery(given map[string]string, p access.Principal, now time.Time) (q delivery.Query, err error) {
	targets := store.TargetFilter{
		Repository: given["repository"], Environment: given["environment"], Application: given["application"],
		Readable: p.ReadFilter(),
	}
	q = delivery.Query{
		TargetFilter: targets, Label: given["label"],
		By: delivery.Period(given["by"]), Group: given["group"], TimeZone: given["timeZone"],
	}
	if q.Since, err = timeOf(given, "since", now); err != nil {
		return q, err
	}
	q.Until, err = timeOf(given, "until", now)
	return q, err
}

// wantsCSV reports whether a response is to be CSV, and not JSON: a parameter decides, else a header.
func wantsCSV(format, accept string) (bool, error) {
	switch format {
	case "":
		accepted, _, _ := mime.ParseMediaType(accept)
		return strings.EqualFold(accepted, "text/csv"), nil
	case "json", "csv":
		return format == "csv", nil
	}
	return false, fault.New(fault.Invalid, "format must be json or csv")
}
