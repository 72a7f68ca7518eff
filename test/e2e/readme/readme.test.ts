import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, clone, ended, PACKAGES, projectWithPackage, shapeOf, started } from './readme.fixture.ts';

/** The packages that can be used without the layer. */
const ALONE = PACKAGES.filter((name) => name !== 'sallyport');
const sampleOf = (name: string): string => `${name.replace(/\W+/g, '-').slice(1)}.ts`;

/** What the page about graphs takes as given, and a line for the result. */
const AROUND_GRAPH = [
  `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const notes = Annotation<string[]>({ reducer: (before, after) => [...before, ...after], default: () => [] });
const workflow = new StateGraph(Annotation.Root({ notes }))
  .addNode('read', () => ({ notes: ['read'] }))
  .addEdge(START, 'read')
  .addEdge('read', END);`,
  `console.log((await graph.getState(thread)).values.notes);
await layer.close();`,
] as const;

const READS_STILL = /^\d+ tools are found by words only until they have been read\.\n$/;

const stack = new AsyncDisposableStack();
let folder: string;
beforeAll(async () => {
  folder = await clone(stack);
}, 120_000);
afterAll(() => stack.disposeAsync(), 60_000);

describe('in a new project with the packed packages', () => {
  const TYPES = {
    ...{ strict: true, skipLibCheck: false, noEmit: true, target: 'es2024', lib: ['es2024', 'esnext.disposable'] },
    // Types are resolved from the place of the link, as for installed packages, not from its target.
    ...{ types: ['node'], preserveSymlinks: true },
  };
  let project: string;
  let sample: string;
  beforeAll(async () => {
    project = await projectWithPackage(stack, folder);
    [sample = ''] = await blocksOf('Use it in a program', 'ts');
    await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
    await writeFile(join(project, 'sample.ts'), sample.replace('port: 7420', 'port: 0'));
    for (const name of ALONE) {
      const text = await readFile(join(project, 'node_modules', name, 'README.md'), 'utf8');
      const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(text) ?? [];
      await writeFile(join(project, sampleOf(name)), code);
    }
    const page = await readFile(join(folder, 'docs', 'tools', 'langgraph.md'), 'utf8');
    const [, graph = ''] = /^```ts\n(.*?)^```/ms.exec(page) ?? [];
    await writeFile(join(project, 'graph.ts'), [AROUND_GRAPH[0], graph, AROUND_GRAPH[1]].join('\n'));
  }, 240_000);

  test.each([
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ])(
    'REG-02 the samples have no fault of type with moduleResolution %s, nor have the types of the packages',
    async (moduleResolution, module) => {
      const configuration = `tsconfig.${moduleResolution}.json`;
      const compilerOptions = { ...TYPES, moduleResolution, module };
      await writeFile(
        join(project, configuration),
        JSON.stringify({ compilerOptions, files: ['sample.ts', 'graph.ts', ...ALONE.map(sampleOf)] }),
      );
      const tsc = join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
      expect(await ended(project, process.execPath, tsc, '-p', configuration)).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
    },
    120_000,
  );

  test.each([['README', 'sample.ts'], ...ALONE.map((name) => [name, sampleOf(name)])])(
    'REG-02 the sample of %s prints what it says, and ends by itself',
    async (_, file) => {
      const code = await readFile(join(project, file), 'utf8');
      const said = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => `${text}\n`);
      expect(said.length).toBeGreaterThanOrEqual(2);
      expect(await ended(project, process.execPath, file)).toEqual({ code: 0, stdout: said.join(''), stderr: '' });
    },
    120_000,
  );

  test('STA-07 the sample of the page about graphs keeps its state in the installed package', async () => {
    expect(await ended(project, process.execPath, 'graph.ts')).toMatchObject({ code: 0, stdout: "[ 'read' ]\n" });
  }, 120_000);

  test('REG-02 the installed program starts from its bundle, and a tool can be called', async () => {
    const program = join('node_modules', 'sallyport', 'bin', 'sallyport.mjs');
    const record = JSON.parse(
      await readFile(join(project, 'node_modules', 'sallyport', 'dist', 'bundle', 'bundle.json'), 'utf8'),
    );
    expect(record).toMatchObject({ inputs: {}, programs: { sallyport: expect.stringMatching(/\.js$/) } });
    const line = `"${process.execPath}" ${program} serve --port 0 --data-folder layer`;
    const printed = await started(stack, project, line, /ready at http:\S+/);
    const [, url = ''] = /ready at (http:\S+)/.exec(printed) ?? [];
    const here = (...words: string[]) => ended(project, process.execPath, program, ...words, '--data-folder', 'layer');
    // A module runs in a thread whose code is in another package; the installed file of that package must be found.
    expect(await here('tools', 'add', join(folder, 'examples/your-tools/currency.json'))).toMatchObject({ code: 0 });
    const called = await here('invoke', 'convert-currency', 'amount=10', 'rate=1.17');
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('11.7') });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  }, 120_000);
});

describe('in a fresh clone', () => {
  let token: string;
  let url: string;
  let body: string;
  beforeAll(async () => {
    const printed = await started(stack, folder, 'npm start -- --port 0', /Ctrl-C/);
    const curl = /^ *curl (?<line>(?:.*\\\n)*.*)$/m.exec(printed)?.groups?.['line'] ?? '';
    [url = ''] = /http:\S+/.exec(curl) ?? [];
    [, token = ''] = /-H 'authorization: Bearer (\S+)'/.exec(curl) ?? [];
    [, body = ''] = /-d '([^']+)'/.exec(curl) ?? [];
  }, 120_000);

  const call = async (text: string): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: text })).json() as Promise<Record<string, unknown>>;
  };

  test('REG-02 the printed curl line and one that lacks an argument are answered in the shape that README shows', async () => {
    const [allowed = '', refused = ''] = await blocksOf('Install and start', 'json');
    const [good, bad] = [await call(body), await call(body.replace(',"b":3', ''))];
    expect(shapeOf(good)).toEqual(shapeOf(JSON.parse(allowed)));
    const { execution_metadata } = good;
    expect(shapeOf(bad)).toEqual(shapeOf({ ...JSON.parse(refused), execution_metadata }));
    expect(bad['error']).toEqual(JSON.parse(refused).error);
    expect(good).toMatchObject({ tool_id: 'add', result: { sum: 5 } });
  });

  test('REG-14 every line that brings tools works as printed, and what it brought can be called', async () => {
    const petstore = await started(stack, folder, 'npx node examples/your-tools/petstore.ts 0', /http:\S+/);
    const [address = ''] = /http:\S+/.exec(petstore) ?? [];
    const [block = ''] = await blocksOf('Bring your tools', 'sh');
    const lines = block.trim().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(8);
    const said = new Map<string, string>();
    for (const line of lines) {
      const { code, stdout, stderr } = await ended(folder, 'sh', '-c', line.replace('http://127.0.0.1:8080', address));
      // The layer has just begun to read the tools that it has.
      const remark = /tools search/.test(line) ? stderr.replace(READS_STILL, '') : stderr;
      expect({ line, code, stderr: remark }).toEqual({ line, code: 0, stderr: '' });
      said.set(line.replace('npm run sallyport -- ', ''), stdout);
    }
    const of = (start: string): string => [...said].find(([line]) => line.startsWith(start))?.[1] ?? '';
    expect(of('tools search')).toMatch(/^convert-currency /m);
    expect(of('audit verify')).toContain('all whole');
    const calls: [string, object, string][] = [
      ['convert-currency', { amount: 10, rate: 1.17 }, '11.7'],
      ['petstore__listPets', { filter_species: 'dog' }, 'Bello'],
      ['files__list_directory', { path: join(folder, 'examples', 'your-tools', 'notes') }, 'shopping.md'],
      ['reference__echo', { message: 'moved in' }, 'moved in'],
      ['skill__minutes', {}, 'open questions'],
    ];
    for (const [tool_id, parameters, expected] of calls) {
      const answer = await call(JSON.stringify({ tool_id, parameters }));
      expect(JSON.stringify(answer), tool_id).toContain(expected);
      expect(answer['status'], tool_id).toBe('success');
    }
    expect(
      await call('{"tool_id":"langchain__book_a_room","parameters":{"room":"a","from":"2026-01-01T10:00:00Z"}}'),
    ).toMatchObject({ error: { e_code: 'E3901' } });
  }, 240_000);
});
