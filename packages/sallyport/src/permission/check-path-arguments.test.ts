import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import { checkPathArguments, pathMarkFaults } from './check-path-arguments.ts';

let base: string;
let grant: Grant;
const limits = { timeoutMs: 1, cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1 };
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-paths-')));
  await mkdir(join(base, 'desk', 'sub'), { recursive: true });
  await mkdir(join(base, 'read'));
  await mkdir(join(base, 'outside'));
  await writeFile(join(base, 'desk', 'file'), '');
  await symlink(join(base, 'outside'), join(base, 'desk', 'out'));
  await symlink(join(base, 'desk', 'sub'), join(base, 'desk', 'in'));
  await symlink(join(base, 'outside', 'new'), join(base, 'desk', 'dangling'));
  await symlink(join(base, 'desk', 'loop'), join(base, 'desk', 'loop'));
  await symlink(join(base, 'read'), join(base, 'desk', 'readonly'));
  await symlink(join(base, 'desk'), join(base, 'alias'));
  await symlink(join(base, 'desk', 'file'), join(base, 'outside', 'back'));
  grant = {
    filesystem: [
      { path: join(base, 'desk'), mode: 'rw' },
      { path: join(base, 'read'), mode: 'ro' },
      { path: join(base, 'alias'), mode: 'rw' },
    ],
    network: [],
    credentials: [],
    limits,
  };
});
afterAll(async () => {
  await rm(base, { recursive: true });
});

const tool = (parameters_schema: ToolManifest['parameters_schema']): ToolManifest => ({
  tool_id: 't',
  tool_name: 't',
  version: '1.0.0',
  description: '',
  parameters_schema,
  executor: { kind: 'native' },
});
const one = (mode: string) => tool({ properties: { file: { type: 'string', 'x-path': mode } } });

describe('checkPathArguments', () => {
  test.each([
    ['rw', 'desk/file', true],
    ['rw', 'desk', true],
    ['rw', 'desk/sub/', true],
    ['rw', 'desk/not/yet/there', true],
    ['rw', 'desk/in/new', true],
    ['rw', 'alias/file', true],
    ['ro', 'read/x', true],
    ['rw', 'read/x', false],
    ['ro', 'outside/x', false],
    ['ro', 'outside/back', false],
    ['ro', 'deskshop', false],
    ['ro', 'desk/../outside', false],
    ['ro', 'desk/./file', false],
    ['ro', 'desk//file', false],
    ['ro', 'desk/out', false],
    ['ro', 'desk/out/x/y', false],
    ['rw', 'desk/dangling', false],
    ['rw', 'desk/dangling/x', false],
    ['ro', 'desk/loop', false],
    ['ro', 'desk/file/x', false],
    ['rw', 'desk/readonly/x', false],
    ['ro', 'desk/readonly/x', true],
    ['ro', 'desk/a\0b', false],
  ])('%s %s: %s', async (mode, path, allowed) => {
    const failed = await checkPathArguments(one(mode), { file: `${base}/${path}` }, grant);
    expect(failed?.code).toBe(allowed ? undefined : 'E3203');
    if (!allowed) expect(failed?.details).toEqual({ path: '/file' });
  });

  test.each([['relative/file'], [''], [7], [{}]])('%j is no absolute path', async (file) => {
    expect((await checkPathArguments(one('ro'), { file }, grant))?.code).toBe('E3203');
  });

  test('PRM-03.3 a call with more than a thousand paths is refused, and a thousand are checked', async () => {
    const many = tool({ properties: { files: { type: 'array', items: { type: 'string', 'x-path': 'ro' } } } });
    const files = Array.from({ length: 1_000 }, () => join(base, 'desk', 'file'));
    expect(await checkPathArguments(many, { files }, grant)).toBeUndefined();
    const refused = await checkPathArguments(many, { files: [...files, join(base, 'desk', 'file')] }, grant);
    expect(refused).toMatchObject({ code: 'E3203', message: expect.stringContaining('more than 1000 paths') });
  });

  test('marked parameters are found at any depth and named by their pointer', async () => {
    const deep = tool({
      properties: { jobs: { type: 'array', items: { properties: { paths: { items: { 'x-path': 'ro' } } } } } },
    });
    const parameters = { jobs: [{ paths: [`${base}/desk/file`] }, { paths: [`${base}/desk`, '/etc'] }] };
    expect(await checkPathArguments(deep, parameters, grant)).toMatchObject({ details: { path: '/jobs/1/paths/1' } });
  });

  test('a tool without marked parameters, and a call that leaves them out, is answered at once', () => {
    expect(checkPathArguments(tool({ properties: { a: {} } }), { a: '/etc' }, grant)).toBeUndefined();
    expect(checkPathArguments(one('ro'), {}, grant)).toBeUndefined();
    expect(checkPathArguments(one('ro'), { file: undefined }, grant)).toBeUndefined();
  });

  test('PRM-03.3 each mark is checked with its own mode, in the object that has it', async () => {
    const two = tool({
      properties: {
        from: { 'x-path': 'ro' },
        to: { properties: { file: { 'x-path': 'rw' } } },
        all: { items: { items: { 'x-path': 'ro' } } },
      },
    });
    const at = (path: string) => join(base, path);
    expect(await checkPathArguments(two, { from: at('read'), to: { file: at('desk') } }, grant)).toBeUndefined();
    expect(await checkPathArguments(two, { to: { file: at('read') } }, grant)).toMatchObject({
      code: 'E3203',
      message:
        'The argument at /to/file lies outside the paths that may be used with mode rw. Use a path within the grant.',
    });
    expect(await checkPathArguments(two, { all: [[], [at('desk'), at('no')]] }, grant)).toMatchObject({
      details: { path: '/all/1/1' },
    });
    expect(checkPathArguments(two, { from: null, to: 'x', all: { 0: ['/etc'] } }, grant)).toBeUndefined();
    expect(checkPathArguments(two, { to: Object.create({ file: '/etc' }) }, grant)).toBeUndefined();
  });

  test('PRM-03.3 the root is a path, with one slash alone', async () => {
    const all = { ...grant, filesystem: [{ path: '/', mode: 'ro' as const }] };
    expect(await checkPathArguments(one('ro'), { file: '/' }, all)).toBeUndefined();
    expect((await checkPathArguments(one('ro'), { file: '///' }, all))?.message).toContain(
      'without "." and ".." and "//"',
    );
    expect((await checkPathArguments(one('ro'), { file: `${base}/desk/out` }, grant))?.message).toContain(
      'leads through a link to a place that may not be used',
    );
  });

  test('PRM-03.3 a grant of a path that is not there yet covers what is made in it', async () => {
    const later = { ...grant, filesystem: [{ path: join(base, 'later'), mode: 'rw' as const }] };
    expect(await checkPathArguments(one('rw'), { file: join(base, 'later/x') }, later)).toBeUndefined();
    const dangling = { ...grant, filesystem: [{ path: join(base, 'desk/dangling'), mode: 'rw' as const }] };
    expect((await checkPathArguments(one('rw'), { file: join(base, 'desk/dangling') }, dangling))?.code).toBe('E3203');
  });

  test('an empty grant allows no path', async () => {
    const nothing = { ...grant, filesystem: [] };
    expect((await checkPathArguments(one('ro'), { file: `${base}/desk/file` }, nothing))?.code).toBe('E3203');
  });
});

describe('pathMarkFaults', () => {
  test('marks that are checked have no fault', () => {
    const schema = {
      properties: { a: { 'x-path': 'ro' }, 'x-path': { items: { 'x-path': 'rw' } } },
      default: { 'x-path': 'no' },
    };
    expect(pathMarkFaults(tool(schema))).toEqual([]);
  });

  test.each([
    [{ properties: { a: { 'x-path': 'write' } } }, '/parameters_schema/properties/a/x-path'],
    [{ properties: { a: { anyOf: [{ 'x-path': 'ro' }] } } }, '/parameters_schema/properties/a/anyOf/0/x-path'],
    [{ $defs: { p: { 'x-path': 'ro' } } }, '/parameters_schema/$defs/p/x-path'],
    [{ items: [{ 'x-path': 'ro' }] }, '/parameters_schema/items/0/x-path'],
    [{ 'x-path': 7 }, '/parameters_schema/x-path'],
    [
      { properties: null, items: { properties: { a: null }, not: { 'x-path': 'rw' } } },
      '/parameters_schema/items/not/x-path',
    ],
  ])('%j has one', (schema, path) => {
    expect(pathMarkFaults(tool(schema as never))).toEqual([
      {
        path,
        code: 'E3008',
        keyword: 'x-path',
        message: 'This mark would not be checked.',
        hint: expect.stringContaining('Use "ro" or "rw"'),
      },
    ]);
  });

  test('PRM-03.3 values that hold a mark are no marks', () => {
    const value = { 'x-path': 'no' };
    expect(pathMarkFaults(tool({ const: value, enum: [value], examples: [value], default: value }))).toEqual([]);
  });

  test('PRM-03.3 a mark deeper than 32 levels, and one after 256 marks, is not checked and so has a fault', () => {
    const deep = (levels: number): object => (levels === 0 ? { 'x-path': 'ro' } : { items: deep(levels - 1) });
    expect(pathMarkFaults(tool(deep(32) as never))).toEqual([]);
    expect(pathMarkFaults(tool(deep(33) as never))).toHaveLength(1);
    const many = (count: number) =>
      tool({
        properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { 'x-path': 'rw' }])),
      });
    expect(pathMarkFaults(many(256))).toEqual([]);
    expect(pathMarkFaults(many(257))).toMatchObject([{ path: '/parameters_schema/properties/p256/x-path' }]);
    expect(pathMarkFaults(many(1000))).toHaveLength(256);
  });

  test('PRM-03.3 a schema that holds itself is searched to an end', () => {
    const schema: Record<string, unknown> = { 'x-path': 'no' };
    schema['self'] = schema;
    const faults = pathMarkFaults(tool(schema as never));
    expect(faults.length).toBeLessThanOrEqual(256);
    const name = 'n'.repeat(4000);
    const long = (more: number) => ({ [name]: { ['m'.repeat(more)]: { 'x-path': 'no' } } });
    expect(pathMarkFaults(tool(long(94) as never))).toHaveLength(1);
    expect(pathMarkFaults(tool(long(95) as never))).toEqual([]);
  });
});
