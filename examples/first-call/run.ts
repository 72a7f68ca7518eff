import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHELF_KEY, startBooksApi } from './books-api.ts';
import { crashChapter } from './chapters/crash.ts';
import { doorsChapter } from './chapters/doors.ts';
import { libraryChapter } from './chapters/library.ts';
import { refusalsChapter } from './chapters/refusals.ts';
import { commandLine, serveProcess } from './sallyport-process.ts';
import { createStory } from './story.ts';

/** Policies of the story: what the token allows is permitted, but for one tool. */
const POLICIES = `@id("permit-what-the-token-allows")
permit (principal, action, resource);
@id("never-forbidden")
forbid (principal, action, resource) when { resource.id == "forbidden" };
`;

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const story = createStory();
const folder = await mkdtemp(join(tmpdir(), 'sallyport-first-call-'));
try {
  const dataFolder = join(folder, 'data');
  const notes = join(folder, 'notes');
  await mkdir(join(dataFolder, 'policies'), { recursive: true });
  await mkdir(notes);
  await writeFile(join(dataFolder, 'policies', 'story.cedar'), POLICIES);
  await writeFile(join(notes, 'hello.txt'), 'Hello from a note.\n');
  const tools = join(folder, 'tools.json');
  await writeFile(tools, (await readFile(here('tools.json'), 'utf8')).replace('NOTES', notes));
  const environment = {
    SALLYPORT_SECRET_BOOKS_SHELF_KEY: SHELF_KEY,
    SALLYPORT_AUDIT_CHECKPOINT_SECONDS: '1',
    SALLYPORT_AGENT_MOUNTS: `${folder}:rw`,
  };
  const sallyport = commandLine(dataFolder, environment);

  await using books = await startBooksApi();
  story.step('A layer on a new data folder, with tools from four places');
  let layer = await serveProcess(dataFolder, environment);
  try {
    for (const args of [
      ['upstreams', 'add', 'everything', '--', 'npx', '-y', '@modelcontextprotocol/server-everything'],
      [
        'upstreams',
        'add',
        'files',
        '--mount',
        `${notes}:rw`,
        '--',
        'npx',
        '-y',
        '@modelcontextprotocol/server-filesystem',
        notes,
      ],
      ['tools', 'import', 'openapi', here('books.openapi.json'), '--name', 'books', '--base-url', books.url],
      ['tools', 'add', tools],
    ]) {
      const { code, stderr } = await sallyport(...args);
      story.holds(args.slice(0, 3).join(' '), () => assert.equal(code, 0, stderr));
    }
    await doorsChapter({ story, sallyport, url: layer.url, notes, booksUrl: books.url });
    await refusalsChapter({ story, sallyport, url: layer.url, folder });
    layer = await crashChapter({ story, sallyport, layer, restart: () => serveProcess(dataFolder, environment) });
  } finally {
    await layer[Symbol.asyncDispose]();
  }
  await libraryChapter({ story, dataFolder, sallyport });
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
