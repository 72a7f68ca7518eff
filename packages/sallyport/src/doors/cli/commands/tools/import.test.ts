import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ImportReport } from '../../../../../api/schemas/imports.ts';
import type { OperationName } from '../../../../operations/catalogue.ts';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(async () => {
  expect(bench.open()).toBe(0);
  await bench.remove();
});

const row = (outcome: 'created' | 'unchanged' | 'refused', tool_id: string, more: object = {}) => ({
  ...{ tool_id, version: '1.0.0', outcome, warnings: [] },
  ...more,
});
const answer = (operation: OperationName, report: Partial<ImportReport> = {}): void => {
  const whole = { source: 's', registrations: [], skipped: [], missing: [], dry_run: false, ...report };
  bench.layer.answers.set(operation, () => whole);
};
const lastInput = (): unknown => bench.layer.asked.at(-1)?.input;

describe('what an import says', () => {
  const registrations = [
    row('created', 's__new'),
    row('unchanged', 's__old'),
    row('refused', 's__bad', {
      error: { message: 'It changed.' },
      breaking: true,
      changes: [
        {
          path: '/parameters_schema/required',
          kind: 'required-added',
          severity: 'breaking',
          message: 'q is required.',
        },
      ],
    }),
  ];

  test('REG-02 is a table, what changed, what is gone, and a line that counts', async () => {
    answer('tools.import-openapi', {
      registrations,
      missing: ['s__gone'],
      skipped: [{ place: 'GET /x', reason: 'odd' }],
    });
    await bench.file('api.json', '{}');
    const run = await bench.run(['tools', 'import', 'openapi', 'api.json']);
    expect(run.code).toBe(1);
    expect(run.out).toContain('created    s__new');
    expect(run.out).toContain('breaking /parameters_schema/required: q is required.');
    expect(run.out.trimEnd().split('\n').at(-1)).toBe('created 1, unchanged 1, refused 1, left out 1, missing 1');
    for (const words of ['GET /x: odd', 's__gone', '--bump']) expect(run.err).toContain(words);
  });

  test('leaves rows of unchanged tools out where there are many, and keeps all of them in JSON', async () => {
    const many = Array.from({ length: 40 }, (_, index) => row('unchanged', `s__t${index}`));
    answer('tools.import-openapi', { registrations: [...many, row('created', 's__new')], dry_run: true });
    await bench.file('api.json', '{}');
    const run = await bench.run(['tools', 'import', 'openapi', 'api.json', '--dry-run', '--bump']);
    expect(lastInput()).toEqual({ document: '{}', source: 'api.json', bump: true, dry_run: true });
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.out).not.toContain('s__t1');
    expect(run.out).toContain('Nothing was written. It would be: created 1, unchanged 40, refused 0');
    const json = await bench.run(['tools', 'import', 'openapi', 'api.json', '--json']);
    expect((JSON.parse(json.out) as ImportReport).registrations).toHaveLength(41);
  });
});

describe('langchain', () => {
  beforeEach(() => answer('tools.import-langchain'));

  test('reads one JSON value or one object a line', async () => {
    await bench.file('tools.json', '[{"name": "a"}]');
    await bench.run(['tools', 'import', 'langchain', 'tools.json', '--name', 'lc', '--tool-version', '2.0.0']);
    expect(lastInput()).toEqual({ tools: [{ name: 'a' }], name: 'lc', version: '2.0.0' });
    await bench.file('tools.jsonl', '{"name": "a"}\n\n{"name": "b"}\n');
    await bench.run(['tools', 'import', 'langchain', 'tools.jsonl']);
    expect(lastInput()).toEqual({ tools: [{ name: 'a' }, { name: 'b' }] });
    await bench.run(['tools', 'import', 'langchain', '-'], { stdin: '{"name": "c"}' });
    expect(lastInput()).toEqual({ tools: { name: 'c' } });
  });

  test('says where a file is wrong', async () => {
    for (const [text, words] of [
      ['{"name": ', 'Standard input: The text is not JSON'],
      ['{"name": "a"}\n{"name": \n{"name": "c"}', 'line 2'],
      ['[1, 2]', 'as JSON objects'],
      ['[]', 'as JSON objects'],
      ['{"name": "a", "__proto__": {}}', '__proto__'],
    ] as const) {
      const run = await bench.run(['tools', 'import', 'langchain', '-'], { stdin: text });
      expect(run, text).toMatchObject({ code: 2, err: expect.stringContaining(words) });
    }
    expect(bench.layer.asked).toEqual([]);
  });
});

describe('composio', () => {
  test('REG-02 asks for what was named, and never for the key itself', async () => {
    answer('tools.import-composio', { registrations: [row('created', 'mail__SEND')] });
    const words =
      'github --tool A --tool B --search mail --base-url https://c.example/api --secret composio_key --name mail';
    const run = await bench.run([
      'tools',
      'import',
      'composio',
      ...words.split(' '),
      '--user-from',
      'tenant',
      '--bump',
    ]);
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining('mail__SEND') });
    expect(lastInput()).toEqual({
      ...{ toolkit: 'github', tools: ['A', 'B'], search: 'mail', base_url: 'https://c.example/api' },
      ...{ secret: 'composio_key', user_from: 'tenant', name: 'mail', bump: true },
    });
    await bench.run(['tools', 'import', 'composio', '--connected-account', 'ca_1', '--user', 'u', '--dry-run']);
    expect(lastInput()).toEqual({ connected_account_id: 'ca_1', user_id: 'u', dry_run: true });
    const odd = await bench.run(['tools', 'import', 'composio', '--user-from', 'nobody']);
    expect(odd).toMatchObject({ code: 2, err: expect.stringContaining('agent, tenant') });
  });
});

describe('skill', () => {
  const SKILL = '---\nname: pdf\ndescription: Reads.\n---\nBody';
  const put = async (path: string, content: string | Uint8Array = ''): Promise<string> => {
    const full = join(bench.folder, 'skill', path);
    await mkdir(join(full, '..'), { recursive: true });
    await writeFile(full, content);
    return full;
  };
  const run = () => bench.run(['tools', 'import', 'skill', 'skill']);
  beforeEach(async () => {
    answer('tools.import-skill');
    await put('SKILL.md', SKILL);
  });

  test('sends the files of the folder with their contents, text as text', async () => {
    await put('scripts/b.bin', Uint8Array.of(0, 255));
    await chmod(await put('scripts/a.sh', 'ls'), 0o755);
    await put('.git/config', 'x');
    await put('node_modules/x/index.js', 'x');
    expect(await run()).toMatchObject({ code: 0 });
    expect(lastInput()).toEqual({
      files: [
        { path: 'SKILL.md', content: SKILL },
        { path: 'scripts/a.sh', content: 'ls', executable: true },
        { path: 'scripts/b.bin', base64: 'AP8=' },
      ],
    });
  });

  test('refuses links, whatever they lead to', async () => {
    await symlink('/etc/passwd', join(bench.folder, 'skill', 'passwd'));
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('passwd is a link') });
    await symlink(join(bench.folder, 'skill'), join(bench.folder, 'linked'));
    const linked = await bench.run(['tools', 'import', 'skill', 'linked']);
    expect(linked).toMatchObject({ code: 2, err: expect.stringContaining('is no folder') });
    expect(bench.layer.asked).toEqual([]);
  });

  test('refuses what is too much before anything is sent', async () => {
    for (let index = 0; index < 512; index += 1) await put(`f${index}`);
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('more than 512 files') });
    await put('big', new Uint8Array(8_388_609));
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('larger than 8388608 bytes') });
    expect(bench.layer.asked).toEqual([]);
  });

  test('says what is wrong with a name that leads nowhere', async () => {
    const none = await bench.run(['tools', 'import', 'skill', 'nowhere']);
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('does not exist') });
    const file = await bench.run(['tools', 'import', 'skill', 'skill/SKILL.md']);
    expect(file).toMatchObject({ code: 2, err: expect.stringContaining('is no folder') });
    await mkdir(join(bench.folder, 'empty'));
    expect(await bench.run(['tools', 'import', 'skill', 'empty'])).toMatchObject({ code: 2 });
  });
});
