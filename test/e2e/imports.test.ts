import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport } from '../../packages/sallyport/api/schemas/imports.ts';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from './layer.fixture.ts';

let open: OpenLayer;
let operator: string;
beforeAll(async () => {
  open = await openLayer();
  operator = (await open.layer.mintToken({ roles: ['operator'] })).capability_token;
});
afterAll(() => open[Symbol.asyncDispose]());

const document = (required: boolean): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1.0.0' },
    servers: [{ url: 'https://pets.example' }],
    paths: {
      '/pets': { get: { operationId: 'list', parameters: [{ name: 'q', in: 'query', required, schema: {} }] } },
      ...(required ? {} : { '/old': { get: { operationId: 'old' } } }),
    },
  });
const send = async (path: string, body: unknown, token = operator) => {
  const answer = await post({ ...open, token }, `/v1/imports/${path}`, JSON.stringify(body));
  return { ...answer, report: answer.body as unknown as ImportReport };
};
const outcomes = ({ registrations }: ImportReport): string[] =>
  registrations.map(({ tool_id, version, outcome }) => `${outcome} ${tool_id} ${version}`);

describe('imports over REST', () => {
  test('REG-02.4 an OpenAPI document is imported once, and shows what changed when it comes again', async () => {
    const first = await send('openapi', { document: document(false) });
    expect([first.status, outcomes(first.report)]).toEqual([
      200,
      ['created pets__list 1.0.0', 'created pets__old 1.0.0'],
    ]);
    const again = await send('openapi', { document: document(false) });
    expect(outcomes(again.report)).toEqual(['unchanged pets__list 1.0.0', 'unchanged pets__old 1.0.0']);
    const changed = await send('openapi', { document: document(true) });
    expect(changed.report).toMatchObject({
      registrations: [{ outcome: 'refused', breaking: true, changes: [{ severity: 'breaking' }] }],
      missing: ['pets__old'],
    });
    const dry = await send('openapi', { document: document(true), bump: true, dry_run: true });
    const bumped = await send('openapi', { document: document(true), bump: true });
    for (const { report } of [dry, bumped]) expect(outcomes(report)).toEqual(['created pets__list 2.0.0']);
    const { versions } = await open.layer.ask('tools.get', { tool_id: 'pets__list' }, LOCAL_CALLER);
    expect(versions).toEqual(['2.0.0', '1.0.0']);
  });

  test('REG-02.11 REG-02.15 tools of LangChain and skills come in too', async () => {
    const tools = [
      { type: 'function', function: { name: 'sum', description: 'Adds.', parameters: { type: 'object' } } },
      {},
    ];
    const langchain = await send('langchain', { tools });
    expect(outcomes(langchain.report)).toEqual(['created langchain__sum 1.0.0']);
    expect(langchain.report.skipped).toEqual([{ place: 'tool 1', reason: 'it has no name' }]);
    const content = '---\nname: notes\ndescription: Takes notes.\n---\n';
    const skills = await send('skills', { files: [{ path: 'notes/SKILL.md', content }] });
    expect(outcomes(skills.report)).toEqual(['created skill__notes 1.0.0']);
  });

  test('hostile folders and lists are refused, and nothing of them is registered', async () => {
    const files = Array.from({ length: 10_000 }, (_, index) => ({ path: `f${index}`, content: '' }));
    const content = '---\nname: x\ndescription: y\n---\n';
    const refused: [string, unknown, string][] = [
      ['skills', { files }, 'invalid_parameters'],
      ['skills', { files: [{ path: '../SKILL.md', content }] }, 'invalid_manifest'],
      ['skills', { files: [{ path: 'SKILL.md', content: 'none' }] }, 'invalid_manifest'],
      ['langchain', { tools: [] }, 'invalid_parameters'],
      ['langchain', { tools: 'text' }, 'invalid_parameters'],
      ['openapi', { document: '{' }, 'invalid_manifest'],
    ];
    for (const [path, body, code] of refused) {
      expect(await send(path, body), path).toMatchObject({ status: 400, body: { code } });
    }
    expect((await send('skills', { files: [] }, open.token)).status).toBeGreaterThanOrEqual(400);
    const agent = await send('langchain', { tools: [{ name: 'x' }] }, open.token);
    expect(agent.status).toBe(403);
  });
});
