// npm runs this at the end of an installation, so that the first start finds the bundle and its compiled code. It never fails
// an installation: without it the first start makes the bundle, and where that cannot be done the sources run as they are.
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// npm links the programs of dependencies and not the project's own: this is what `npx sallyport` finds in a clone. On Windows,
// where a link is no program, `npm run sallyport --` does the same.
if (process.platform !== 'win32') {
  try {
    const programs = fileURLToPath(new URL('../node_modules/.bin/', import.meta.url));
    mkdirSync(programs, { recursive: true });
    rmSync(`${programs}sallyport`, { force: true });
    symlinkSync('../../scripts/sallyport.mjs', `${programs}sallyport`);
  } catch (problem) {
    console.warn(`npx sallyport will not work here; npm run sallyport -- does the same. ${problem}`);
  }
}

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
