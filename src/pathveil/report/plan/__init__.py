"""The planning report: what each ε and b would cost, before anything sensitive is read. Safe to share."""

from pathveil.report.plan.charts import errors_chart
from pathveil.report.plan.page import plan_page

__all__ = ["errors_chart", "plan_page"]
