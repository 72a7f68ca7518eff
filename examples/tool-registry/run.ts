import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToolLayer, serve } from '../../packages/sallyport/src/index.ts';
import { commandLine } from '../first-call/sallyport-process.ts';
import { createStory } from '../first-call/story.ts';
import { agentsChapter } from './chapters/agents.ts';
import { importsChapter } from './chapters/imports.ts';
import { metaToolsChapter } from './chapters/meta-tools.ts';
import { searchChapter } from './chapters/search.ts';
import { tenantsChapter } from './chapters/tenants.ts';
import { upstreamChapter } from './chapters/upstream.ts';
import { versionsChapter } from './chapters/versions.ts';
import { startHelpDesk } from './help-desk-api.ts';
import type { RegistryParts } from './registry-story.ts';

const story = createStory();
const folder = await mkdtemp(join(tmpdir(), 'sallyport-tool-registry-'));
try {
  await using helpDesk = await startHelpDesk();
  await using layer = await createToolLayer({
    settings: {
      data_folder: folder,
      'audit.checkpoint_seconds': 1,
      // Tenants other than the machine's own start programs only when its operator names them.
      'tenant.may_run_programs': ['north', 'south'],
    },
  });
  await using server = await serve(layer, { port: 0 });
  const parts: RegistryParts = {
    story,
    layer,
    url: server.url,
    helpDesk,
    here: (name) => fileURLToPath(new URL(name, import.meta.url)),
    sallyport: commandLine(folder, {}),
  };
  for (const chapter of [
    versionsChapter,
    importsChapter,
    searchChapter,
    upstreamChapter,
    agentsChapter,
    metaToolsChapter,
    tenantsChapter,
  ]) {
    await chapter(parts);
  }
  story.step('The record');
  const { code, stdout, stderr } = await parts.sallyport('audit', 'verify');
  story.holds('audit verify says that nothing was changed, added or left out', () => assert.equal(code, 0, stderr));
  console.log(`      ${stdout.trim().split('\n').join('\n      ')}\n\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
