import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Type } from 'typebox';
import { z } from 'zod';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { asJson, codeOf, invoke, type RegistryParts } from '../registry-story.ts';

type Outcomes = readonly { readonly tool_id: string; readonly outcome: string; readonly version: string }[];
const outcomesOf = (report: { readonly registrations?: unknown }): string[] =>
  (report.registrations as Outcomes).map(({ outcome, tool_id, version }) => `${outcome} ${tool_id} ${version}`);

/** Tools from a document, from LangChain, from a skill folder, and from functions of two schema libraries. */
export async function importsChapter(parts: RegistryParts): Promise<void> {
  parts.story.step('Tools from elsewhere');
  await openApi(parts);
  await openApiAgain(parts);
  await langChain(parts);
  await skill(parts);
  await functions(parts);
}

async function openApi(parts: RegistryParts): Promise<void> {
  const { story, layer, here, helpDesk } = parts;
  const file = here('inputs/help-desk.openapi.yaml');
  const first = await asJson(parts, 'tools', 'import', 'openapi', file, '--name', 'desk', '--base-url', helpDesk.url);
  const document = await readFile(file, 'utf8');
  const again = await layer.ask(
    'tools.import-openapi',
    { document, name: 'desk', base_url: helpDesk.url },
    LOCAL_CALLER,
  );
  story.holds('each operation of an OpenAPI document is a tool, and the same document again changes nothing', () => {
    const ids = ['desk__listTickets', 'desk__openTicket', 'desk__closeTicket'];
    assert.deepEqual(outcomesOf(first).sort(), ids.map((id) => `created ${id} 1.0.0`).sort());
    assert.deepEqual(outcomesOf(again).sort(), ids.map((id) => `unchanged ${id} 1.0.0`).sort());
  });
  const opened = await invoke(parts, 'desk__openTicket', {
    queue: 'it',
    body: { subject: 'The printer is out of ink' },
  });
  story.holds('calling it reaches the service', () => {
    const { body } = opened.body['result'] as { body: object };
    assert.deepEqual(body, { number: 1, queue: 'it', subject: 'The printer is out of ink', state: 'open' });
  });
}

async function openApiAgain({ story, layer, here, helpDesk }: RegistryParts): Promise<void> {
  const text = await readFile(here('inputs/help-desk.openapi.yaml'), 'utf8');
  const document = text.replace('required: [subject]', 'required: [subject, place]');
  assert.notEqual(document, text);
  const request = { document, name: 'desk', base_url: helpDesk.url };
  const changed = await layer.ask('tools.import-openapi', request, LOCAL_CALLER);
  const next = await layer.ask('tools.import-openapi', { ...request, bump: true, dry_run: true }, LOCAL_CALLER);
  story.holds('a document that changed under its version is refused, with what changed and whether it breaks', () => {
    const refused = changed.registrations.find(({ outcome }) => outcome === 'refused');
    assert.partialDeepStrictEqual(refused, { tool_id: 'desk__openTicket', breaking: true });
    assert.ok(
      refused?.changes?.some(({ kind }) => kind === 'required-added'),
      JSON.stringify(refused?.changes),
    );
    assert.ok(outcomesOf(next).includes('created desk__openTicket 2.0.0'), outcomesOf(next).join());
  });
}

async function langChain(parts: RegistryParts): Promise<void> {
  const { story, layer, here } = parts;
  const report = await asJson(parts, 'tools', 'import', 'langchain', here('inputs/langchain-tools.json'));
  const call = () => invoke(parts, 'langchain__translate', { text: 'cat', language: 'Dutch' });
  const before = await call();
  using _bound = await layer.bindFunction('langchain__translate', ({ text }) => (text === 'cat' ? 'kat' : text));
  const after = await call();
  story.holds(
    'serialised LangChain tools come in, one that is none is listed, and run once their function is bound',
    () => {
      assert.deepEqual(outcomesOf(report), ['created langchain__translate 1.0.0']);
      assert.equal((report['skipped'] as object[]).length, 1);
      assert.deepEqual([codeOf(before), after.body['result']], ['E3901', 'kat']);
    },
  );
}

async function skill(parts: RegistryParts): Promise<void> {
  const report = await asJson(parts, 'tools', 'import', 'skill', parts.here('inputs/skills'));
  const { manifest } = await parts.layer.ask('tools.get', { tool_id: 'skill__meeting-minutes' }, LOCAL_CALLER);
  parts.story.holds('a folder with SKILL.md is a tool with its instructions and its scripts', () => {
    assert.deepEqual(outcomesOf(report), ['created skill__meeting-minutes 1.2.0']);
    const { instructions, scripts } = manifest.executor.config ?? {};
    assert.match(String(instructions), /one line for each decision/);
    assert.deepEqual(scripts, ['scripts/outline.sh']);
  });
}

async function functions(parts: RegistryParts): Promise<void> {
  const { story, layer } = parts;
  const hours = z
    .object({ from: z.number().min(8), until: z.number().max(18), room: z.string().default('blue') })
    .refine(({ from, until }) => from < until, { message: 'from must lie before until', path: ['from'] });
  await layer.registerFunction(
    { name: 'reserve-room', description: 'Reserves a room for some hours of today.', input: hours },
    ({ from, until, room }) => `${room}, ${until - from} h`,
  );
  const reserved = await invoke(parts, 'reserve-room', { from: 9, until: 11 });
  const backwards = await invoke(parts, 'reserve-room', { from: 11, until: 9 });
  story.holds('a function described with zod gets its defaults, and what zod refuses never reaches it', () => {
    assert.deepEqual([reserved.body['result'], codeOf(backwards)], ['blue, 2 h', 'E3509']);
    assert.match(JSON.stringify(backwards.body), /from must lie before until/);
  });
  const text = Type.Object({ text: Type.String({ description: 'The text.' }) }, { additionalProperties: false });
  const reading = { name: 'reading-time', description: 'Estimates how long it takes to read a text.', input: text };
  await layer.registerFunction({ ...reading, output: Type.Integer(), sideEffect: 'pure' }, ({ text: read }) =>
    Math.ceil(read.split(' ').length / 200),
  );
  const read = await invoke(parts, 'reading-time', { text: 'one two three' });
  const none = await invoke(parts, 'reading-time', { words: 3 });
  story.holds('so is one described with TypeBox, its result too', () => {
    assert.deepEqual([read.body['result'], codeOf(none)], [1, 'E3509']);
  });
}
