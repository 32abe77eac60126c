package api

import (
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/delivery"
	"promoter/internal/fault"
	"promoter/internal/store"
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

// metricsQuery parses the parameters, and whether CSV is wanted.
func (a *API) metricsQuery(c echo.Context) (q delivery.Query, asCSV bool, err error) {
	given, err := Parameters(c, "repository", "environment", "application", "label", "since", "until", "by", "group", "timeZone", "format")
	if err != nil {
		return q, false, err
	}
	q = delivery.Query{
		TargetFilter: store.TargetFilter{Repository: given["repository"], Environment: given["environment"], Application: given["application"]},
		Label:        given["label"], By: delivery.Period(given["by"]), Group: given["group"], TimeZone: given["timeZone"],
	}
	if q.Since, err = timeOf(given, "since", a.Now()); err != nil {
		return q, false, err
	}
	if q.Until, err = timeOf(given, "until", a.Now()); err != nil {
		return q, false, err
	}
	switch format := given["format"]; format {
	case "":
		accepted, _, _ := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderAccept))
		return q, strings.EqualFold(accepted, "text/csv"), nil
	case "json", "csv":
		return q, format == "csv", nil
	}
	return q, false, fault.New(fault.Invalid, "format must be json or csv")
}
