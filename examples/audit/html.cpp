// SPDX-License-Identifier: BSL-1.0
#include "html.hpp"

#include "json.hpp"

#include <string_view>

namespace audit_tool {

namespace {

constexpr std::string_view head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tmigr-audit</title>
<style>
body { font: 14px/1.45 sans-serif; margin: 0 auto; max-width: 1100px; padding: 1em; color: #222; background: #fff; }
h1 { font-size: 1.3em; }
pre { font: 12px/1.4 monospace; overflow-x: auto; background: #f5f5f5; padding: .6em; }
.filter { position: sticky; top: 0; background: #fff; padding: .5em 0; border-bottom: 1px solid #ccc; z-index: 1; }
.finding { border: 1px solid #ccc; border-radius: 4px; margin: 1em 0; padding: .5em 1em; }
.finding summary { cursor: pointer; font-weight: bold; }
.time { display: grid; grid-template-columns: 9em 1fr; row-gap: 1px; font-size: 11px; margin: .8em 0; }
.bar { position: relative; height: 13px; background: #eee; }
.bar i { position: absolute; top: 0; bottom: 0; min-width: 1px; }
.bar b { position: absolute; top: -1px; bottom: -1px; width: 1px; background: #c00; }
.awake { background: #5a9e5a; } .walking { background: #a7d3a7; } .idle { background: #b9c4d6; }
.armed { background: #e0b050; } .away { background: #777; } .unknown { background: #eee; }
.key span { display: inline-block; padding: 0 .5em; margin-right: .4em; }
ol.lines { padding-left: 0; list-style: none; font: 12px/1.4 monospace; }
ol.lines li { padding: 1px 4px; cursor: pointer; white-space: pre-wrap; }
ol.lines li.proof { background: #fdeaea; }
ol.lines li.shown { outline: 1px solid #888; }
.note { color: #a00; }
</style>
</head>
<body>
<h1>tmigr-audit</h1>
<pre id="summary"></pre>
<div class="filter">
<label>kind <select id="kind"><option value="">all</option></select></label>
<label>fault <select id="fault"><option value="">all</option></select></label>
<label>text <input id="text" size="24"></label>
<span id="count"></span>
</div>
<p class="key"><span class="awake">awake</span><span class="walking">awake, on its way</span><span
class="idle">idle</span><span class="armed">idle, armed for others</span><span class="away">takes no part</span><span
class="unknown">not known</span></p>
<div id="findings"></div>
<script type="application/json" id="data">)html";

constexpr std::string_view tail = R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const by = id => document.getElementById(id);
const make = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
by("summary").textContent = data.summary;
for (const [id, key] of [["kind", "kind"], ["fault", "fault"]])
  for (const value of [...new Set(data.findings.map(f => f[key]))].sort()) by(id).append(make("option", "", value));

function timeline(f) {
  const box = make("div", "time"), rows = f.story.rows;
  let from = Infinity, to = 0;
  for (const r of rows) for (const p of r.parts) { from = Math.min(from, p[0]); to = Math.max(to, p[1]); }
  const at = t => to > from ? 100 * (t - from) / (to - from) : 0;
  for (const r of rows) {
    box.append(make("div", "", r.name));
    const bar = make("div", "bar");
    for (const p of r.parts) {
      const part = make("i", p[2]);
      part.style.left = at(p[0]) + "%";
      part.style.width = Math.max(0, at(p[1]) - at(p[0])) + "%";
      part.title = r.name + " " + p[2] + ", from " + (p[0] / 1e9).toFixed(6) + " to " + (p[1] / 1e9).toFixed(6);
      bar.append(part);
    }
    for (const e of f.evidence) {
      if (r.name !== "CPU " + e.cpu) continue;
      const mark = make("b");
      mark.style.left = at(e.time_ns) + "%";
      mark.title = "line " + e.line + ": " + e.what;
      bar.append(mark);
    }
    box.append(bar);
  }
  return box;
}
function story(f) {
  const box = make("div"), tree = make("pre"), list = make("ol", "lines");
  for (const l of f.story.lines) {
    const item = make("li", l.note ? "proof" : "", "line " + l.line + " " + l.text);
    if (l.note) item.append(make("span", "note", "\n    " + l.note));
    item.onclick = () => {
      for (const other of list.children) other.classList.remove("shown");
      item.classList.add("shown");
      tree.textContent = l.tree;
    };
    list.append(item);
  }
  const first = f.story.lines.findIndex(l => l.line >= f.begin.line);
  if (list.children.length) list.children[Math.max(0, first)].onclick();
  box.append(make("p", "", "Groups from the expiry to the root, behind the line that is framed (choose another one):"), tree, list);
  if (f.story.cut) box.append(make("p", "", "Lines were left out: the story is longer."));
  return box;
}
const shown = data.findings.map(f => {
  const box = make("details", "finding");
  box.append(make("summary", "", f.number + ". " + f.headline));
  box.addEventListener("toggle", () => {
    if (!box.open || box.dataset.made) return;
    box.dataset.made = "1";
    if (f.cause) box.append(make("p", "", f.cause));
    box.append(make("p", "", "From line " + f.begin.line + " to line " + f.end.line + ": " + f.ended_by));
    if (f.story.rows.length) box.append(timeline(f), story(f));
  });
  by("findings").append(box);
  return [f, box, JSON.stringify(f).toLowerCase()];
});
function filter() {
  const kind = by("kind").value, fault = by("fault").value, text = by("text").value.toLowerCase();
  let n = 0;
  for (const [f, box, all] of shown) {
    const fits = (!kind || f.kind === kind) && (!fault || f.fault === fault) && all.includes(text);
    box.hidden = !fits;
    n += fits;
  }
  by("count").textContent = n + " of " + shown.length + " findings";
}
for (const id of ["kind", "fault", "text"]) by(id).addEventListener("input", filter);
filter();
if (shown.length) shown[0][1].open = true;
const asked = new URLSearchParams(location.search);
for (const id of ["kind", "fault", "text"]) if (asked.has(id)) { by(id).value = asked.get(id); filter(); }
</script>
</body>
</html>
)html";

}  // namespace

std::string as_html(const audited& done) {
    return std::string{head} + as_page_data(done) + std::string{tail};
}

}  // namespace audit_tool
