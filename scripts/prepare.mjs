// npm runs this at the end of an installation, so that the first start finds the bundle and its compiled code. It never fails
// an installation: without it the first start makes the bundle, and where that cannot be done the sources run as they are.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isOldNode = Number.parseInt(process.versions.node, 10) < 24;
const hasBundler = existsSync(fileURLToPath(new URL('../node_modules/rolldown', import.meta.url)));
if (hasBundler && !isOldNode) {
  try {
    const { makeBundle } = await import('./bundle/make-bundle.ts');
    await makeBundle();
  } catch (problem) {
    console.warn(`The bundle was not made; the first start tries again. ${problem}`);
  }
}
