"""The echo server on FastMCP: `app` for HTTP, over stdio when run as a script. It runs in `.venv-bench`.

It gives a `ToolResult` of one text, as all sides do: a plain `str` would be sent a second time, as `structuredContent`.
"""

import fastmcp
from fastmcp.tools import ToolResult
from mcp.types import TextContent

fastmcp.settings.log_level = "CRITICAL"
server = fastmcp.FastMCP("bench", version="1")


@server.tool(output_schema=None)
async def echo(text: str) -> ToolResult:
    """Say it again."""
    return ToolResult(content=[TextContent(type="text", text=text)])


if __name__ == "__main__":
    server.run(transport="stdio", show_banner=False)
else:
    app = server.http_app(path="/mcp", json_response=True, stateless_http=True)
