"""MCP's own client for Python and the inspector's command line against the example server of tools, or a gateway to it.

    python clients.py --program target/debug/mcp-server --url http://127.0.0.1:8080/mcp --node node --inspector FILE

`cargo xtask mcp-clients` builds and starts the server, has the pinned clients ready and runs this.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

import mcp

PATIENCE = 60


class Settings:
    """What the command line says."""

    program = None
    url = None
    node = "node"
    inspector = None
    gateway_config = None

    @classmethod
    def arguments(cls):
        """What the program is started with."""
        return ["--config", cls.gateway_config] if cls.gateway_config else []


def servers():
    """Each way to reach the server, with each generation of the protocol."""
    pipes = mcp.StdioServerParameters(command=Settings.program, args=Settings.arguments())
    for name, server in (("stdio", pipes), ("http", Settings.url)):
        for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28")):
            yield f"{name} {mode}", server, mode, version


class PythonClient(unittest.IsolatedAsyncioTestCase):
    async def each(self, check):
        for name, server, mode, version in servers():
            with self.subTest(name):
                async with mcp.Client(server, mode=mode, read_timeout_seconds=PATIENCE) as client:
                    self.assertEqual(client.protocol_version, version)
                    await check(client)

    async def test_it_sees_the_tools_that_it_may_call(self):
        async def check(client):
            tools = (await client.list_tools()).tools
            self.assertEqual([tool.name for tool in tools], ["list_notes", "read_note"])
            self.assertTrue(all(tool.annotations.read_only_hint for tool in tools))

        await self.each(check)

    async def test_structured_output_fits_its_schema(self):
        async def check(client):
            # The client checks it against the schema that the tool lists.
            await client.list_tools()
            result = await client.call_tool("list_notes", {})
            self.assertEqual(result.structured_content, {"notes": ["shopping", "router", "release"]})

        await self.each(check)

    async def test_secrets_are_masked(self):
        async def check(client):
            text = (await client.call_tool("read_note", {"name": "router"})).content[0].text
            self.assertIn("[REDACTED", text)
            self.assertNotIn("hunter22", text)

        await self.each(check)

    async def test_failures_are_results(self):
        async def check(client):
            await self.fails(client, "read_note", {"name": "diary"}, 'there is no note "diary"')
            await self.fails(client, "read_note", {"nome": "diary"}, "missing field `name`")

        await self.each(check)

    async def test_what_is_not_listed_is_refused(self):
        async def check(client):
            for name, arguments in (("delete_note", {"name": "router"}), ("unknown", {})):
                if not Settings.gateway_config:
                    await self.fails(client, name, arguments, "is not available")
                    continue
                # The gateway knows the tools that the server lists, and no others that it could deny.
                with self.assertRaises(mcp.MCPError) as refused:
                    await client.call_tool(name, arguments)
                self.assertEqual(refused.exception.message, f"Unknown tool: {name}")

        await self.each(check)

    async def fails(self, client, name, arguments, words):
        result = await client.call_tool(name, arguments)
        self.assertTrue(result.is_error)
        self.assertIn(words, result.content[0].text)


class Inspector(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The inspector takes flags on its command line for its own, so the server stands in a file.
        server = {"command": Settings.program, "args": Settings.arguments()}
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.config = os.path.join(folder.name, "mcp.json")
        with open(cls.config, "w") as file:
            json.dump({"mcpServers": {"server": server}}, file)

    def ask(self, *arguments):
        command = [Settings.node, Settings.inspector, "--cli", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.fail(f"{done.returncode}: {done.stdout}{done.stderr}")

    def each(self, *arguments):
        pipes = ("--config", self.config, "--server", "server")
        for server in (pipes, (Settings.url, "--transport", "http")):
            with self.subTest(server):
                yield self.ask(*server, *arguments)

    def test_it_sees_the_tools_that_it_may_call(self):
        for answer in self.each("--method", "tools/list"):
            self.assertEqual([tool["name"] for tool in answer["tools"]], ["list_notes", "read_note"])

    def test_it_calls_a_tool(self):
        call = ("--method", "tools/call", "--tool-name", "read_note", "--tool-arg", "name=router")
        for answer in self.each(*call):
            self.assertFalse(answer.get("isError"))
            self.assertIn("[REDACTED", answer["content"][0]["text"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("program", "url", "node", "inspector"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--gateway-config", help="the program and the URL are a gateway's, with this configuration")
    settings, rest = parser.parse_known_args()
    for option, value in vars(settings).items():
        setattr(Settings, option, value)
    unittest.main(argv=[sys.argv[0], "--verbose", *rest])
