import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, onTestFinished, test } from 'vitest';
import { rowsForDoors } from './rows-for-doors.ts';

const SOURCES = {
  'src/doors/door.ts': "import { OPERATIONS } from '../operations/catalogue.ts';\nexport const rows = OPERATIONS;\n",
  'src/operations/create.ts': "import { OPERATIONS } from './catalogue.ts';\nexport const all = OPERATIONS;\n",
  'src/operations/catalogue.ts': `import { find } from './things/find.ts';
import { list } from './things/list.ts';
export const OPERATIONS = [find, list] as const;
`,
  'src/operations/operation.ts': 'export const operation = <T>(described: T): T => described;\n',
  'src/operations/things/find.ts': `import { work } from '../../heavy/work.ts';
import { operation } from '../operation.ts';
import { list } from './list.ts';
export const find = operation({ name: 'things.find', run: (parts: object) => [work(parts), list.run(parts)], end: 1 });
`,
  'src/operations/things/list.ts': `import { operation } from '../operation.ts';
export const list = operation({ name: 'things.list', run: (parts: object): string => \`listed \${parts}\` });
`,
  'src/heavy/work.ts': "export const work = (parts: object): string => 'heavy' + String(parts);\n",
};

async function bundled(entry: keyof typeof SOURCES): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'rows-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [path, text] of Object.entries(SOURCES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const bundle = await rolldown({ cwd: root, input: join(root, entry), plugins: [rowsForDoors] });
  const { output } = await bundle.generate({});
  await bundle.close();
  return output.map((file) => (file.type === 'chunk' ? file.code : '')).join('\n');
}

test('a door gets the rows of all operations, and nothing that only their runs import', async () => {
  const code = await bundled('src/doors/door.ts');
  for (const kept of ['things.find', 'things.list', 'end: 1']) expect(code).toContain(kept);
  for (const gone of ['heavy', 'listed']) expect(code).not.toContain(gone);
});

test('the operations themselves get the runs', async () => {
  const code = await bundled('src/operations/create.ts');
  for (const kept of ['things.find', 'things.list', 'heavy', 'listed']) expect(code).toContain(kept);
});
