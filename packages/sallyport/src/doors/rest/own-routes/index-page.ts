/** Style sheet of the index page; the answer's content security policy names it by hash. */
export const INDEX_STYLE = `
:root { color-scheme: light dark; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; font: 1rem/1.6 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.75rem; }
h2 { margin: 2rem 0 .25rem; font-size: 1.05rem; }
p { margin: .25rem 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 0; }
dd { margin: 0; }
code, pre { font: .92rem/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid color-mix(in srgb, currentcolor 25%, transparent); border-radius: .4rem; }
a { color: LinkText; }
@media (max-width: 32rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; } }
`;

/** The page at `/`: links for a person who opened the address in a browser. Needs no script and no other file. */
export const INDEX_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sallyport</title>
<style>${INDEX_STYLE}</style>
</head>
<body>
<main>
<h1>Sallyport</h1>
<p>The tool execution layer for AI agents. Every call to a tool is checked, bounded, explained and recorded here.</p>
<h2>Addresses</h2>
<dl>
<dt><a href="/openapi.json"><code>/openapi.json</code></a></dt><dd>the REST interface under <code>/v1</code>, as OpenAPI 3.1</dd>
<dt><code>/mcp</code></dt><dd>the tools over the Model Context Protocol</dd>
<dt><code>/mcp/servers/NAME</code></dt><dd>one MCP server behind the layer, under its own names</dd>
<dt><code>/mcp/discovery</code></dt><dd>which tools there are, read only, over the same protocol</dd>
<dt><a href="/healthz"><code>/healthz</code></a>, <a href="/readyz"><code>/readyz</code></a></dt><dd>whether it works, and whether it is ready</dd>
</dl>
<h2>First call</h2>
<p>Every call needs a capability token. Mint one for an agent, then list what it may use:</p>
<pre>TOKEN=$(npm run --silent sallyport -- token mint --tool '*')
curl -H "Authorization: Bearer $TOKEN" http://HOST:PORT/v1/tools</pre>
</main>
</body>
</html>
`;
