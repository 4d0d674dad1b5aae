// One extractor of Node as a process that lives long: `node extract.mjs NAME SETTINGS`, see extract.py.

import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";
import { gfm } from "turndown-plugin-gfm";

const [name, settings] = [process.argv[2], JSON.parse(process.argv[3])];
for (const method of ["log", "info", "debug", "warn"]) console[method] = console.error; // the answers go to standard output

// What linkedom lacks and both look for: Defuddle fills these in for itself when it is given a string.
function parsed(html, url) {
  const { document } = parseHTML(html);
  if (!document.styleSheets) document.styleSheets = [];
  if (document.defaultView && !document.defaultView.getComputedStyle) {
    document.defaultView.getComputedStyle = () => ({ display: "" });
  }
  document.URL = url;
  return document;
}

const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", ...settings });
turndown.use(gfm);

const extractors = {
  async defuddle(html, url) {
    const result = await Defuddle(parsed(html, url), url, { markdown: true, useAsync: false, ...settings });
    return result.content;
  },
  async readability_js(html, url) {
    const document = parsed(html, url);
    let base = document.querySelector("base[href]");
    if (!base && document.head) {
      base = document.createElement("base"); // what a browser knows without one
      document.head.appendChild(base);
    }
    if (base) base.setAttribute("href", new URL(base.getAttribute("href") ?? "", url).href);
    return turndown.turndown(new Readability(document).parse()?.content ?? "");
  },
};

const packages = { defuddle: ["defuddle", "linkedom"], readability_js: ["@mozilla/readability", "linkedom", "turndown"] };
const versionOf = (one) => JSON.parse(readFileSync(new URL(`node_modules/${one}/package.json`, import.meta.url))).version;
const answer = (value) => process.stdout.write(JSON.stringify(value) + "\n");

answer({ versions: [...packages[name].map((one) => `${one} ${versionOf(one)}`), `node ${process.version}`].join(", ") });
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { html, url } = JSON.parse(line);
  const began = process.cpuUsage();
  let markdown = "";
  let error = "";
  try {
    markdown = (await extractors[name](html, url)) ?? "";
  } catch (failure) {
    error = String(failure).slice(0, 200);
  }
  const used = process.cpuUsage(began);
  answer({ markdown, error, seconds: (used.user + used.system) / 1e6 });
}
