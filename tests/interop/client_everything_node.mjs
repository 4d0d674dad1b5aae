// The official TypeScript clients: `client_everything_node.mjs PACKAGE MODE http URL` or `... PACKAGE MODE stdio COMMAND ...`.
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

const client = new Client({ name: "webseam-interop", version: "1" }, second ? { versionNegotiation: { mode } } : {});
await client.connect(await transport());
const tools = (await client.listTools()).tools; // first, as it is how the client learns the schema of what a tool answers
const added = await client.callTool({ name: "add", arguments: { a: 2, b: 40 } });
const echoed = await client.callTool({ name: "echo", arguments: { text: "naïve 世界" } });
const refused = await client.callTool({ name: "echo", arguments: { text: "" } });
const read = async (uri) => (await client.readResource({ uri })).contents[0];
const get = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0].content.text;
const answer = {
  revision: client.getNegotiatedProtocolVersion?.() ?? null,
  instructions: client.getInstructions(),
  tools: tools.map((tool) => tool.name),
  added: added.content[0].text,
  structured: added.structuredContent,
  echoed: echoed.content[0].text,
  refused: refused.isError ? refused.content[0].text : null,
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
  text: (await read("memo://text")).text,
  bytes: (await read("memo://bytes")).blob,
  filled: (await read("memo://for/Ada")).text,
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  hello: await get("hello"),
  ask: await get("ask", { topic: "seams", tone: "kindly" }),
};
await client.close();
console.log(JSON.stringify(answer));
process.exit(0);
