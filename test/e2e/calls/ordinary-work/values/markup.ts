/** Pages and fragments in HTML, SVG, JSX, Vue, Svelte, XML, RSS, e-mail templates and Markdown. */
export const markup: readonly string[] = [
  `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Hello &amp; welcome</title>
    <link rel="stylesheet" href="style.css?v=3&amp;min=1">
    <script>window.dataLayer = window.dataLayer || []; if (a < b && c > d) alert("hi");</script>
    <script src="/js/app.js" defer></script>
  </head>
  <body onload="init()">
    <h1 id=top>Hello &mdash; it&#39;s me</h1>
    <p>1 &lt; 2 and <q>quoted</q><br/>next line</p>
    <a href="javascript:void(0)" onclick="show('menu'); return false;">Menu</a>
    <noscript>Please enable JavaScript.</noscript>
  </body>
</html>
`,
  `<!doctype html><title>x</title><script type=module>import{a}from'./a.js';a\`<p>\${1<2}</p>\`</script><p>a<p>b`,
  `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title>Old page</title>
<script type="text/javascript">
//<![CDATA[
  document.write('<scr' + 'ipt src="ads.js"></scr' + 'ipt>');
//]]>
</script></head><body bgcolor="#ffffff" text="#000000"><marquee>Under construction</marquee></body></html>
`,
  `<form action="/login" method="post" autocomplete="off">
  <input type="hidden" name="csrf" value="EXAMPLE-not-a-token">
  <label>Name <input name="user" required pattern="[A-Za-z0-9_.\\-]{3,20}"></label>
  <label>Password <input type="password" name="pass" minlength="12"></label>
  <select name="lang"><option value="de" selected>Deutsch</option><option value="fr">Français</option></select>
  <textarea name="note" rows="3">"><b>not bold</b></textarea>
  <button type="submit" formaction="/login?next=%2Fhome&amp;x=1">Log in &raquo;</button>
</form>`,
  `<button onclick="if (confirm('Drop &quot;draft&quot;?')) { fetch('/drafts/7', { method: 'DELETE' }); }">🗑</button>`,
  `<iframe src="https://video.example.com/embed/42?autoplay=0&rel=0" width="560" height="315" title="A video"
  allow="fullscreen; picture-in-picture" loading="lazy" referrerpolicy="no-referrer" sandbox="allow-scripts"></iframe>
<iframe srcdoc="&lt;p onclick=&quot;parent.postMessage(1,'*')&quot;&gt;Click&lt;/p&gt;"></iframe>
<object data="movie.swf"><embed src="movie.swf"></object>`,
  `<img src="logo.png" srcset="logo.png 1x, logo@2x.png 2x" alt="Tom's logo" onerror="this.src='no.png'">`,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" onload="start(evt)">
  <style>circle { fill: none; stroke: #c00 } /* > */</style>
  <circle cx="50" cy="50" r="10">
    <animate attributeName="r" values="10;40;10" dur="2s" repeatCount="indefinite"/>
    <set attributeName="stroke" to="blue" begin="click"/>
  </circle>
  <a xlink:href="javascript:next()" xmlns:xlink="http://www.w3.org/1999/xlink"><text y="95">next</text></a>
  <script type="text/ecmascript"><![CDATA[
    function start(e) { if (1 < 2 && e.target) e.target.setAttribute("data-on", "1"); }
  ]]></script>
</svg>
`,
  `<svg><use href="#i"/><foreignObject><div xmlns="http://www.w3.org/1999/xhtml">a</div></foreignObject></svg>`,
  `import { memo } from 'react';

export const Row = memo(({ item, onPick, ...rest }) => (
  <tr {...rest} className={item.done ? 'done' : undefined} onClick={() => onPick(item.id)}>
    <td>{item.title ?? <em>untitled</em>}</td>
    <td>{item.tags.map((t) => <span key={t}>#{t}&nbsp;</span>)}</td>
    <td>{/* a comment */}{\`\${item.count} × \${'{'}braces{'}'}\`}</td>
  </tr>
));
`,
  `<Trans>
  Hello <strong>{name}</strong>, you have {count, plural, =0 {no letters} one {# letter} other {# letters}}.
  <a href={\`mailto:\${address}?subject=Re:%20\${encodeURIComponent(subject)}\`} rel="noopener">Reply</a>
</Trans>`,
  `<script setup lang="ts">
import { computed, ref } from 'vue';
const query = ref('');
const hits = computed(() => props.items.filter((i) => i.name.includes(query.value)));
const props = defineProps<{ items: { id: number; name: string }[] }>();
</script>

<template>
  <input v-model.trim="query" @keyup.enter="$emit('search', query)" :placeholder="'Search…'">
  <li v-for="{ id, name } in hits" :key="id" v-html="name" />
  <p v-if="hits.length < 1 && query">Nothing for “{{ query }}”</p>
</template>

<style scoped>li::before { content: "\\2192 "; }</style>
`,
  `<script>
  export let items = [];
  let filter = '';
  $: shown = items.filter((i) => i.includes(filter));
</script>

<input bind:value={filter} on:input={() => console.log(filter)} />
{#each shown as item, i (item)}
  <p class:odd={i % 2 === 1}>{i + 1}. {@html item}</p>
{:else}
  <p>No match for {filter || '(all)'}.</p>
{/each}
`,
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!DOCTYPE note [
  <!ELEMENT note (#PCDATA|b)*>
  <!ENTITY firm "Example &amp; Daughters">
  <!ENTITY logo SYSTEM "file:///usr/share/doc/logo.txt">
]>
<note id='n1' title="Tom's">&firm; — 5 &#x3C; 6 &#62; 4
  <![CDATA[ <b>raw & unescaped</b> if (a && b) ]]]]><![CDATA[> ]]>
  <!-- a comment - with - dashes --><?php-like instruction="yes"?>
</note>
`,
  `<?xml version="1.0"?>
<!DOCTYPE many [<!ENTITY a "ab"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<!-- fixture of test/xml-bomb.test.ts: the parser has to refuse this file -->
<many>&c;</many>`,
  `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
  <channel>
    <title>Garden &amp; kitchen</title>
    <link>https://blog.example.org/?utm_source=feed&amp;utm_medium=rss</link>
    <item>
      <title>&lt;b&gt;Leeks&lt;/b&gt; again</title>
      <guid isPermaLink="false">urn:uuid:00000000-0000-4000-8000-000000000001</guid>
      <pubDate>Mon, 03 Mar 2025 08:00:00 +0000</pubDate>
      <content:encoded><![CDATA[<p onclick="x()">Sow them <em>now</em>…</p>]]></content:encoded>
    </item>
  </channel>
</rss>
`,
  `<soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope">
  <soap:Body><m:GetPrice xmlns:m="https://shop.example.org/prices"><m:Item>'Apples'</m:Item></m:GetPrice></soap:Body>
</soap:Envelope>`,
  `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId><artifactId>shop</artifactId><version>\${revision}</version>
  <build><plugins><plugin><configuration><argLine>-Xmx1g @{argLine}</argLine></configuration></plugin></plugins></build>
</project>
`,
  `<!--[if mso]><table role="presentation" width="600"><tr><td><![endif]-->
<div style="max-width:600px;margin:0 auto;font-family:Georgia,'Times New Roman',serif">
  <p>Dear {{first_name|default:"friend"}},</p>
  <p>Your order <b>#{{ order.id }}</b> has left our shop.
    Track it <a href="{{url}}?o={{order.id}}&amp;t=mail">here</a>.</p>
  <img src="https://mail.example.org/open.gif?u={{uid}}" width="1" height="1" alt="">
</div>
<!--[if mso]></td></tr></table><![endif]-->
<!--[if !mso]><!--><p>You get this mail as you asked for it. <a href="%%unsubscribe%%">Stop</a></p><!--<![endif]-->
`,
  `From: Shop <noreply@example.org>
To: =?utf-8?Q?J=C3=BCrgen?= <j@example.net>
Subject: Receipt
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="=_b1"

--=_b1
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<a href=3D"https://example.org/?a=3D1&b=3D2">Caf=C3=A9</a>=20
--=_b1--
`,
  `# Frobnicate [![build](https://ci.example.org/b.svg)](https://ci.example.org/) <!-- badge -->

> A *small* tool; see [the docs](docs/index.md "Docs & more") or <https://example.org>.

\`\`\`bash
npm install && npm run build -- --watch | tee log.txt   # \`Ctrl-C\` stops it
\`\`\`

| Option | Meaning |
| ------ | :-----: |
| \`-f\\|--force\` | overwrite **without** asking |

<details><summary>More</summary><p align="center"><img src="a.png" onload="go()"></p></details>

- [x] tests
- [ ] a [link](javascript:alert(1)) which the renderer has to drop[^1]

[^1]: See \`test/links.test.ts\`.
`,
  `---
title: "Notes: part #2"
tags: [a, 'b', "c & d"]
draft: false
---

import Chart from './chart'

# {frontmatter.title}

<Chart data={[1, 2, 3].map((x) => x ** 2)} />

~~~html
<script>alert('inside a fence')</script>
~~~

    indented code with \\backslash and <tags>

Line with two spaces at the end  
and a hard break\\
here. Setext
============
`,
  `<table border=1><tr><td colspan=2>A<td>B<tr><td><a name=x>1</a><td>&nbsp;<td>&copy 2025 &notit; &#x1F600;</table>`,
  `<style>
  @import url("print.css") print;
  a[href^='javascript:'], a[onclick] { outline: 2px dashed red; }
  .icon::after { content: '\\201C' attr(title) '\\201D'; background: url(data:image/gif;base64,R0lGODlhAQABAAAAACw=) }
  @media (width > 40em) and (height <= 60em) { body > main ~ aside { width: calc(100% - 2 * var(--gap, 1rem)) } }
  /* </style> cannot stand in a comment */
`,
  `<template id="card"><slot name="title">Untitled</slot></template>
<script>
customElements.define('x-card', class extends HTMLElement {
  constructor() { super(); this.attachShadow({ mode: 'open' }).append(card.content.cloneNode(true)); }
});
</script><x-card><h2 slot=title>I'm a title</h2></x-card>`,
  `{% extends "base.html" %}
{% block body %}
  {# never |safe here #}
  {% for c in comments if c.score >= 0 %}
    <blockquote id="c{{ c.id }}">{{ c.text|e }}</blockquote>
  {% else %}<p>{{ _("No comments yet") }}</p>{% endfor %}
  {{ super() }}<%= "and a little ERB" -%> {{{ mustache }}} {{!-- handlebars --}} \${jsp} @Model.Name
{% endblock %}
`,
  `<script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Recipe", "name": "Soup \\u003c3", "description": "Tom's <\\/script> soup"}
</script>
<meta http-equiv="refresh" content="5; url=/next?from=a&to=b">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'nonce-EXAMPLE' 'unsafe-inline'">
<base href="https://example.org/" target="_self">`,
  `<math display="block"><mrow><mi>a</mi><mo>&lt;</mo><msup><mi>b</mi><mn>2</mn></msup></mrow></math>`,
  `<video poster="p.jpg" onplay="track('play')" onended="track('end')"><source src="v.webm#t=10,20"><track src=e.vtt>
  <p>Your browser can't play this. <a href="v.webm" download="holiday &quot;24.webm">Download</a></p></video>`,
  `.. code-block:: html

   <input type="text" value="&quot;" onfocus="this.select()">

.. |date| date:: %Y-%m-%d
.. _link: https://example.org/?a=1&b=2

See \`the link <link_>\`_ or :ref:\`here <there>\`; ''not bold''; **bold**.
`,
  `= A small AsciiDoc page
:toc:

[source,html]
----
<a href="ftp://files.example.org/">files</a> <1>
----
<1> An old link; +++<u>passed through</u>+++ and "\`curly\`".
`,
  `<div
  x-data="{ open: false, items: ['a', 'b'] }"
  @click.outside="open = false"
  hx-get="/list?page=2"
  hx-on::after-request="this.remove()"
  data-json='{"k": "v\\"w", "n": null}'
  style="--x: 1; width: calc(1px + 2%)"
  class="md:hover:bg-[url('/img.png')] w-1/2 -mt-2 [&>*]:p-4"
></div>
`,
];
