// The echo server on the official TypeScript SDK's low-level server: `typescript_sdk.mjs http|stdio`.

import { Server, createMcpHandler } from "@modelcontextprotocol/server";

const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const tools = [{ name: "echo", description: "Say it again.", inputSchema }];

function echo() {
  const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params }) => ({ content: [{ type: "text", text: params.arguments.text }] }));
  return server;
}

async function http() {
  const { createServer } = await import("node:http");
  const sdk = await import("@modelcontextprotocol/node");
  const [host, origin] = [sdk.localhostHostValidation(), sdk.localhostOriginValidation()];
  const modern = sdk.toNodeHandler(createMcpHandler(echo, { responseMode: "json", legacy: "reject" }));

  // What `createMcpHandler` does for earlier revisions, but with JSON answers: it has event streams alone.
  async function legacy(request, response) {
    const transport = new sdk.NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    const server = echo();
    response.on("close", () => server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response);
  }

  const listener = createServer((request, response) => {
    if (!host(request, response) || !origin(request, response)) return;
    (request.headers["mcp-protocol-version"] === "2025-11-25" ? legacy : modern)(request, response);
  });
  listener.keepAliveTimeout = 75_000;
  listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
}

async function stdio() {
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(echo);
}

await { http, stdio }[process.argv[2]]();
