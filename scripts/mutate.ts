// npm run mutate -- COMPONENT... [--files GLOB] [--sample N [--seed N]] [--seconds N] [--tests GLOB] [--near N] [--heavy] [--resume]: changes the code in small ways, one at a time, and
// says which changes no test notices. CONTRIBUTING.md describes it.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { tryMutants } from './mutate/try-mutants.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '60' },
    tests: { type: 'string' },
    near: { type: 'string' },
    resume: { type: 'boolean', default: false },
    heavy: { type: 'boolean', default: false },
  },
});
if (positionals.length === 0) {
  console.error(
    'Name a component: npm run mutate -- pipeline audit [--files GLOB] [--sample N [--seed N]] [--seconds N] [--tests GLOB] [--near N] [--heavy] [--resume]',
  );
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const { lines } = await tryMutants({
    folders: positionals.map((name) => (name.includes('/') ? name : `packages/sallyport/src/${name}`)),
    glob: values.files ?? '**/*.ts',
    mutantMsMax: Number(values.seconds) * 1_000,
    resume: values.resume,
    withHeavy: values.heavy || positionals.includes('storage'),
    seed: Number(values.seed),
    ...(values.sample === undefined ? {} : { sample: Number(values.sample) }),
    ...(values.tests === undefined ? {} : { tests: values.tests }),
    ...(values.near === undefined ? {} : { testFilesMax: Number(values.near) }),
  });
  for (const line of lines) console.log(line);
}
