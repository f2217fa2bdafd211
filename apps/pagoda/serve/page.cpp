#include "serve/page.h"

namespace pagoda::app {

const char* const kPage = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pagoda</title>
<link rel="icon" href="data:,">
<style>
:root {
  --paper: #faf9f7; --card: #ffffff; --ink: #1d2430; --soft: #5d6675; --line: #dcdfe4;
  --accent: #a63d2f; --on-accent: #ffffff; --weight: 166, 61, 47; --bad: #a3282a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --card: #1c2128; --ink: #e6e8eb; --soft: #9aa4b2; --line: #323a45;
    --accent: #e58a73; --on-accent: #1b1210; --weight: 240, 150, 125; --bad: #ff9a94;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem .75rem; margin-bottom: 1rem; }
h1 { font-size: 1.35rem; margin: 0; letter-spacing: .01em; }
#model { color: var(--soft); font-size: .875rem; overflow-wrap: anywhere; }
textarea {
  width: 100%; min-height: 7rem; padding: .75rem; resize: vertical; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
}
textarea:focus-visible, select:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; margin: .75rem 0 1.25rem; }
label { color: var(--soft); font-size: .9375rem; }
select {
  font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: .375rem; padding: .375rem .5rem; margin-left: .375rem;
}
button {
  font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0;
  border-radius: .375rem; padding: .5rem 1.25rem; margin-left: auto; cursor: pointer;
}
button:disabled { opacity: .6; cursor: default; }
#note { color: var(--soft); font-size: .9375rem; min-height: 1.5rem; margin-bottom: .5rem; }
#note.bad { color: var(--bad); }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin-bottom: 1rem; }
.source { color: var(--soft); font-size: .875rem; overflow-wrap: anywhere; }
.best { font-size: 1.125rem; margin: .125rem 0 0; overflow-wrap: anywhere; }
.others { margin: .5rem 0 0; padding: 0; list-style: none; color: var(--soft); font-size: .9375rem; }
.others li, .score { font-variant-numeric: tabular-nums; }
.score { color: var(--soft); font-size: .8125rem; white-space: nowrap; }
details { margin-top: .75rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9375rem; }
figure { margin: .5rem 0 0; overflow-x: auto; }
svg text { fill: var(--ink); font-size: 12px; }
svg rect { stroke: var(--line); stroke-width: .5; }
@media (max-width: 30rem) { button { width: 100%; margin-left: 0; } }
</style>
</head>
<body>
<main>
<header><h1>Pagoda</h1><span id="model"></span></header>
<form id="form">
<textarea id="text" aria-label="Text to translate" placeholder="A sentence on each line" autofocus></textarea>
<div class="row">
<label>Beam<select id="beam"><option>1</option><option selected>5</option><option>10</option></select></label>
<label>Show<select id="best"><option value="1">the best</option><option value="3">the best 3</option><option value="5">the best 5</option></select></label>
<button id="go">Translate</button>
</div>
</form>
<div id="note" role="status"></div>
<section id="results" aria-live="polite"></section>
</main>
<script>
"use strict";
const byId = id => document.getElementById(id);
const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

function say(text, bad) {
  byId("note").textContent = text;
  byId("note").className = bad ? "bad" : "";
}

/* A token as people read it: without the mark of a word's beginning. */
const readable = token => token === "</s>" ? "(end)" : token.replace(/^▁(?=.)/, "");

/* A row for each token of the translation, a column for each of the source; the darker, the more it was looked at. */
function picture(weights, source, target) {
  const size = 20, name = "http://www.w3.org/2000/svg";
  const longest = tokens => Math.max(...tokens.map(token => [...token].length));
  const left = Math.min(longest(target), 24) * 7.5 + 8;
  const top = Math.min(longest(source), 24) * 7.5 + 8;
  const shorten = token => [...token].length > 24 ? [...token].slice(0, 23).join("") + "…" : token;
  const width = left + source.length * size + 1, height = top + target.length * size + 1;
  const svg = document.createElementNS(name, "svg");
  const add = (kind, attributes, text) => {
    const element = document.createElementNS(name, kind);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    svg.append(element);
    return element;
  };
  for (const [key, value] of Object.entries({width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
                                             "aria-label": "Attention weights"})) svg.setAttribute(key, value);
  source.forEach((token, column) => {
    const x = left + column * size + size / 2 + 4;
    add("text", {transform: `translate(${x} ${top - 6}) rotate(-90)`}, shorten(token));
  });
  target.forEach((token, row) => {
    add("text", {x: left - 6, y: top + row * size + size / 2 + 4, "text-anchor": "end"}, shorten(token));
    weights[row].forEach((weight, column) => {
      const square = add("rect", {x: left + column * size, y: top + row * size, width: size, height: size,
                                  style: `fill: rgba(var(--weight), ${weight.toFixed(3)})`});
      const title = document.createElementNS(name, "title");
      title.textContent = `${token} ← ${source[column]}: ${weight.toFixed(3)}`;
      square.append(title);
    });
  });
  return svg;
}

function show(translation, open) {
  const card = make("article"), [best, ...others] = translation.hypotheses;
  card.append(make("div", "source", translation.source));
  const line = make("p", "best", best.text + " ");
  if (best.text) line.append(make("span", "score", best.score.toFixed(3)));
  card.append(line);
  if (others.length) {
    const list = make("ul", "others");
    for (const one of others) {
      const item = make("li", "", one.text + " ");
      item.append(make("span", "score", one.score.toFixed(3)));
      list.append(item);
    }
    card.append(list);
  }
  if (best.attention && best.attention.target.length) {
    const details = make("details"), figure = make("figure");
    details.open = open;
    details.append(make("summary", "", "What it looked at"));
    figure.append(picture(best.attention.weights, best.attention.source.map(readable), best.attention.target.map(readable)));
    details.append(figure);
    card.append(details);
  }
  return card;
}

async function translate() {
  const lines = byId("text").value.split(/\r?\n/).map(line => line.trim()).filter(line => line);
  byId("results").replaceChildren();
  if (!lines.length) return say("Type something to translate.");
  const beam = Number(byId("beam").value), best = Math.min(Number(byId("best").value), beam);
  byId("go").disabled = true;
  say("Translating…");
  const begin = performance.now();
  try {
    const found = [];
    for (let i = 0; i < lines.length; i += 16) {
      const answer = await fetch("translate", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify({text: lines.slice(i, i + 16), beam_size: beam, n_best: best, attention: true})});
      const json = await answer.json();
      if (!answer.ok) throw new Error(json.error);
      found.push(...json.translations);
    }
    byId("results").append(...found.map(one => show(one, found.length === 1)));
    say(`${found.length === 1 ? "1 sentence" : found.length + " sentences"} in ${Math.round(performance.now() - begin)} ms`);
  } catch (error) {
    say(error instanceof TypeError ? "The server does not answer." : error.message, true);
  }
  byId("go").disabled = false;
}

byId("form").addEventListener("submit", event => { event.preventDefault(); translate(); });
byId("text").addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); translate(); }
});
fetch("health").then(answer => answer.json()).then(json => { byId("model").textContent = json.model; }).catch(() => {});
const asked = new URLSearchParams(location.search).get("text");
if (asked) { byId("text").value = asked; translate(); }
</script>
</body>
</html>
)html";

}  // namespace pagoda::app
