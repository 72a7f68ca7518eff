// npm start: the layer with its example tools and the console. Of a clone only.
import process from 'node:process';
import { start } from './start.mjs';

await start('starter', process.argv.slice(2));
