"use strict";
// Draws each table with the class "series" with uPlot, in the element with the class "plot" of
// its figure: a line for each column, and a point for each row.
(() => {
  const height = 200; // pixels
  const dashes = [[], [8, 4], [2, 3], [8, 3, 2, 3], [14, 4], [4, 4]]; // lines differ not only in color
  const units = {
    count: (value) => String(value),
    percent: (value) => value + "%",
    seconds: (value) => {
      const [size, name] = [[86400, "d"], [3600, "h"], [60, "m"]].find(([size]) => value >= size) || [1, "s"];
      return +(value / size).toFixed(1) + name;
    },
  };
  // The distances of the lines of the grid, so that durations have round values.
  const steps = { seconds: [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432800, 604800, 1209600, 2592000, 7776000] };
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const draw = (table) => {
    const plot = table.closest("figure").querySelector(".plot");
    const rows = [...table.tBodies[0].rows];
    const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent.trim());
    const numbers = names.map((_, i) => rows.map((row) => {
      const number = row.cells[i + 1].dataset.number;
      return number === undefined ? null : Number(number);
    }));
    const unit = table.dataset.unit;
    const axis = { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const mark = (index) => rows.forEach((row, i) => row.classList.toggle("marked", i === index));
    plot.hidden = false;
    plot.replaceChildren();
    return new uPlot({
      width: plot.clientWidth, height,
      legend: { show: false }, // the head of the table has the colors
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: () => [-0.5, rows.length - 0.5] },
        y: { range: (_, low, high) => [0, unit === "percent" ? 100 : (high || 1) * 1.1] },
      },
      axes: [
        { ...axis, space: 90, incrs: [1, 2, 4, 8, 13, 26, 52], values: (_, all) => all.map((i) => rows[i]?.cells[0].textContent ?? "") },
        { ...axis, size: 56, incrs: steps[unit] ?? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000], values: (_, all) => all.map(units[unit]) },
      ],
      series: [{}, ...names.map((label, i) => ({
        label, stroke: color("--line-" + i), width: 2, dash: dashes[i], spanGaps: true, points: { show: true, size: 6, fill: color("--line-" + i) },
      }))],
      hooks: { setCursor: [(chart) => mark(chart.cursor.left >= 0 ? chart.cursor.idx : null)] },
    }, [rows.map((_, i) => i), ...numbers], plot);
  };

  const charts = [];
  const drawAll = () => {
    for (const chart of charts.splice(0)) chart.destroy();
    for (const table of document.querySelectorAll("table.series")) charts.push(draw(table));
    document.body.dataset.charts = String(charts.length);
  };
  let width = 0;
  new ResizeObserver(() => {
    if (width === document.body.clientWidth) return;
    width = document.body.clientWidth;
    for (const chart of charts) chart.setSize({ width: chart.root.parentElement.clientWidth, height });
  }).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
})();
