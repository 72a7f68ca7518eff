#!/usr/bin/env node
// The program `sallyport`, of an installation and of a clone.
import process from 'node:process';
import { start } from './start.mjs';

await start('sallyport', process.argv.slice(2));
