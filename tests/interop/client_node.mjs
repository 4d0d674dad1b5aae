// The official TypeScript clients: `client_node.mjs PACKAGE MODE http URL` or `... PACKAGE MODE stdio COMMAND ...`.
import { createInterface } from "node:readline";

const [packageName, mode, transportName, ...where] = process.argv.slice(2);
const second = packageName === "client";
const { Client } = await import(second ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/index.js");

async function transport() {
  if (transportName === "http") {
    const module = second ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/streamableHttp.js";
    const { StreamableHTTPClientTransport } = await import(module);
    return new StreamableHTTPClientTransport(new URL(where[0]));
  }
  const module = second ? "@modelcontextprotocol/client/stdio" : "@modelcontextprotocol/sdk/client/stdio.js";
  const { StdioClientTransport } = await import(module);
  return new StdioClientTransport({ command: where[0], args: where.slice(1) });
}

const line = await new Promise((resolve) => createInterface({ input: process.stdin }).once("line", resolve));
const [query, url] = JSON.parse(line);
const client = new Client({ name: "webseam-interop", version: "1" }, second ? { versionNegotiation: { mode } } : {});
await client.connect(await transport());
const tools = await client.listTools();
const search = await client.callTool({ name: "web_search", arguments: { query, count: 2 } });
const fetched = await client.callTool({ name: "web_fetch", arguments: { url } });
const refused = await client.callTool({ name: "web_search", arguments: { query: "", count: 2 } });
console.log(
  JSON.stringify({
    revision: client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? null,
    tools: tools.tools.map((tool) => tool.name),
    search: search.content[0].text,
    fetch: fetched.content[0].text,
    refused: [refused.isError, refused.content[0].text],
  }),
);
await client.close();
process.exit(0);
