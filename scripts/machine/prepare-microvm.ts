// node scripts/machine/prepare-microvm.ts [FOLDER]: makes kernel and initrd for the microVM driver, by default in .sallyport/microvm.
import { join, resolve } from 'node:path';
import { prepareImage } from '../../packages/sandbox/src/drivers/microvm/image/prepare-image.ts';

const folder = resolve(process.argv[2] ?? join('.sallyport', 'microvm'));
const { kernel, initrd } = await prepareImage(folder);
process.stdout.write(`kernel: ${kernel}\ninitrd: ${initrd}\n`);
