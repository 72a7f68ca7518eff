import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, serveProcess } from '../first-call/sallyport-process.ts';
import { createStory } from '../first-call/story.ts';
import type { ApprovalParts } from './approvals-story.ts';
import { decidingChapter } from './chapters/deciding.ts';
import { waitingChapter } from './chapters/waiting.ts';
import { mailTools, openMailRoom } from './mail-room.ts';

/** Who is asked for what, and how long. */
const TERMS = `[[rule]]
tools = ["send-notice"]
expires_after = "2s"
`;

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-approvals-'));
const folder = join(home, 'data');
const environment = { SALLYPORT_LOG_LEVEL: 'silent', SALLYPORT_APPROVALS_SWEEP_SECONDS: '0.5' };
try {
  await mkdir(folder);
  await writeFile(join(folder, 'approvals.toml'), TERMS);
  await using mailRoom = await openMailRoom();
  const tools = join(home, 'tools.json');
  await writeFile(tools, JSON.stringify(mailTools(mailRoom.port)));
  let layer = await serveProcess(folder, environment);
  try {
    const sallyport = commandLine(folder, environment);
    await sallyport('tools', 'add', tools);
    const port = String(mailRoom.port);
    const minted = await sallyport(
      'token',
      'mint',
      '--user',
      'did:example:user',
      '--host',
      '127.0.0.1',
      '--port',
      port,
    );
    const parts: ApprovalParts = {
      story,
      mailRoom,
      sallyport,
      layer: () => layer,
      restart: async () => {
        layer = await serveProcess(folder, environment);
      },
      token: minted.stdout.trim(),
    };
    for (const chapter of [decidingChapter, waitingChapter]) await chapter(parts);
  } finally {
    await layer[Symbol.asyncDispose]();
  }
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
